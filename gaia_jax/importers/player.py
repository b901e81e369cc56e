"""Play a recorded game by our actions, line by line."""

from __future__ import annotations

import re

from gaia_jax.importers import seat as lie
from gaia_jax.importers.lines import STEP_DECLINED, Line, is_leech, lines_of
from gaia_jax.importers.notation import (
    BOARD_ACTIONS,
    BOOSTERS,
    PIECES,
    PRICES,
    SLOTS,
    SPECIALS,
    TECHS,
    TOKENS,
    Differs,
    Log,
    amounts,
    hex_names,
)
from gaia_jax.importers.seat import Script, Seat
from gaia_jax.state import GameState

# Notes after which a player's stocks differ from ours.
LOST = "a conversion whose gain is lost was not made"
HALF = "half a token brought credits"
ELSEWHERE = "the brainstone is in another place"


class Player:
    """Plays the commands of lines at a seat."""

    def __init__(self, seat: Seat, record: Log) -> None:
        self.seat, self.record = seat, record
        self.cells = hex_names(record["setup"])
        self.slots = {SLOTS[s]: TECHS[t] for s, t in record["setup"]["techs"].items() if s in SLOTS}
        self.lines = lines_of(record)
        # Commands of a player after the main action, while others still answer leech offers.
        self.waiting: tuple[int, list[list[str]]] | None = None
        self.at_line: Line | None = None  # the one that is played
        # Choices that our actions cannot express, and the first line of each.
        self.unsaid: dict[str, Line | None] = {}
        self.before: GameState = seat.state.game  # the game before the last decision
        self.who = 0  # whose command is played

    def waiting_for(self) -> int | None:
        """The player with conversions to come once leech is answered."""
        return self.waiting[0] if self.waiting else None

    # -- one action

    def act(self, text: str) -> Script:
        seat = self.seat
        if not seat.legal(text):
            raise Differs(f"legal {seat.node}", text, "not legal")
        if text == "pass":
            self.before = seat.state.game
        yield seat.rules.actions.by_text[text]

    def at(self, name: str) -> str:
        """The text of a recorded place."""
        if name not in self.cells:
            raise Differs("place", name, "not on the map")
        q, r = self.cells[name]
        return f"{q},{r}"

    # -- lines

    def line(self, line: Line) -> Script:
        """A line outside the phases between the turns."""
        seat, self.at_line = self.seat, line
        expected_nodes = ("LEECH",) if line.is_leech else ("START", "BOOSTER", "TURN")
        if seat.node not in expected_nodes or seat.player != line.who:
            position = f"{seat.node} of player {seat.player}"
            raise Differs("decision", f"{expected_nodes} of player {line.who}", position)
        yield from self.commands(line.who, list(line.commands))
        if line.is_leech and self.waiting and seat.node != "LEECH":
            player, rest = self.waiting
            self.waiting = None
            yield from self.commands(player, rest)
        yield from self.end_turn()

    def end_turn(self) -> Script:
        while self.seat.node == "AFTER" and not self.waiting:
            yield from self.act("end_turn")

    def commands(self, player: int, commands: list[list[str]]) -> Script:
        """Commands of one player; the rest waits while others answer leech offers."""
        seat, answers = self.seat, is_leech(commands)
        while commands:
            if not answers and self.nothing_to_decline(commands):
                commands.pop(0)  # no track can advance (A12)
                continue
            if seat.node == "LEECH" and not answers:
                if self.waiting is not None:
                    raise Differs("decision", commands, "another player waits already")
                self.waiting = (player, commands)
                return
            if seat.player != player and commands[0][0] != "spend":
                raise Differs("decision", commands, f"{seat.node} of player {seat.player}")
            yield from self.next_command(player, commands)
            if answers and commands:
                raise Differs("decision", commands, "none after an answer")

    def nothing_to_decline(self, commands: list[list[str]]) -> bool:
        """Whether a research step is declined that our game does not offer."""
        return commands[0] in STEP_DECLINED and self.seat.node not in ("STEP", "TARGET")

    def next_command(self, player: int, commands: list[list[str]]) -> Script:
        """The next command, and the place of the brainstone that is recorded after it."""
        seat, command = self.seat, commands.pop(0)
        place = None
        if commands and commands[0][0] == "brainstone":
            place = lie.place_in(commands.pop(0))
        before, self.who = seat.state.game, player
        pays = command, place
        if command[0] == "special" and [cmd[0] for cmd in commands[:2]] == ["build", "brainstone"]:
            pays = commands[0], lie.place_in(commands[1])  # the target's node has no conversions
        if lie.wants_other_way(seat, player, *pays):
            yield from self.act("free brainstone")
        yield from self.command(command, commands)
        while place is not None and seat.node == "TARGET" and seat.player == player and commands:
            yield from self.command(commands.pop(0), commands)  # we pay with the target
        if place is not None:
            self.put_brainstone(before, player, place)

    def between(self, lines: list[Line]) -> Script:
        """Income and Gaia phase: each decision of our game is answered from its player's lines."""
        seat = self.seat
        players = len(self.record["vp"])
        queues: dict[int, list[list[str]]] = {player: [] for player in range(players)}
        places: dict[int, list[int]] = {}
        for line in lines:
            self.at_line = line
            for command in line.commands:
                if command[0] == "brainstone":
                    places.setdefault(line.who, []).append(lie.place_in(command))
                elif command[0] == "income":  # several parts in their order: 2t,3pw
                    queues[line.who] += [["income", part] for part in command[1].split(",")]
                else:
                    queues[line.who].append(command)
        while seat.node != "TURN":
            queue, self.who = queues[seat.player], seat.player
            self.at_line = ([line for line in lines if line.who == self.who] or lines)[-1]
            while seat.node != "INCOME" and queue and queue[0][0] == "income":
                queue.pop(0)  # a part that our game took by itself
            if seat.node == "INCOME":
                yield from self.income(queue)
            elif seat.node == "TERRANS":
                yield from self.terrans(queue)
            elif seat.node == "ITARS":
                while queue and self.nothing_to_decline(queue):
                    queue.pop(0)
                if queue and queue[0][:1] == ["spend"]:
                    queue.pop(0)
                    yield from self.command(queue.pop(0), queue)
                else:
                    yield from self.act("skip")
            elif queue:
                yield from self.command(queue.pop(0), queue)
            else:
                raise Differs("decision", "none", f"{seat.node} of player {seat.player}")
        left = [c for queue in queues.values() for c in queue if c[0] not in ("income", "decline")]
        if [c for c in left if not (c[0] == "spend" and c[1].endswith("tg"))]:
            raise Differs("decision", left, "none")
        for player, choices in places.items():
            self.leave_brainstone(lines[-1], player, choices)

    def income(self, queue: list[list[str]]) -> Script:
        menu = [text.split()[1] for text in self.seat.menu()]
        kind = "CH"
        if queue and queue[0][0] == "income":
            amount, unit = re.fullmatch(r"(\d*)(t|pw)", queue.pop(0)[1]).groups()  # type: ignore[union-attr]
            kind = "TK" if unit == "t" else "CH"
            exact = [atom for atom in menu if self.atom(atom) == (int(amount or 1), unit)]
        else:
            exact = []
        chosen = (exact or [atom for atom in menu if atom.startswith(kind)] or menu)[0]
        yield from self.act(f"income {chosen}")

    def atom(self, atom: str) -> tuple[int, str]:
        """The amount of a pending part of the income."""
        game, player = self.seat.state.game, self.seat.player
        rules = self.seat.rules
        faction = rules.factions[int(game.setup.faction[player])]
        players = game.players
        booster = rules.boosters[int(players.booster[player])].income
        economy = rules.economy_income[0][int(players.tracks[player, 4])]
        amounts = {
            "CH_PI": (faction.pi_income.charge, "pw"),
            "CH_ECO": (economy.charge, "pw"),
            "CH_BOOSTER": (booster.charge, "pw"),
            "CH_TILE": (1, "pw"),
            "CH_LABS": (2, "pw"),
            "TK_FACTION": (faction.base_income.tokens, "t"),
            "TK_PI": (faction.pi_income.tokens, "t"),
            "TK_BOOSTER": (booster.tokens, "t"),
        }
        return amounts[atom]

    def terrans(self, queue: list[list[str]]) -> Script:
        """Conversions of the returning tokens; the rest becomes credits automatically (GAI-08)."""
        kinds = {"q": "P4_to_Q", "o": "P3_to_O", "k": "P4_to_K"}
        while queue and queue[0][0] == "spend":
            ((count, unit),) = amounts(queue.pop(0)[3])
            if unit in kinds:
                for _ in range(count):
                    yield from self.act(f"free {kinds[unit]}")
                return
        yield from self.act("skip")

    # -- commands

    def command(self, command: list[str], rest: list[list[str]]) -> Script:
        """One command of a line at the open node."""
        name, *words = command
        seat = self.seat
        if name == "build":
            yield from self.build(words[0], self.at(words[1]))
        elif name == "up":
            yield from self.act(f"advance {SLOTS[words[0]]}")
        elif command in STEP_DECLINED and (words or seat.node != "LEECH"):
            yield from self.act("skip")
        elif name == "tech":
            track = SLOTS[words[0].removeprefix("adv-")]
            high = words[0].startswith("adv-")
            yield from self.act(f"advanced {track}" if high else f"tile {self.slots[track]}")
        elif name == "cover":
            yield from self.act(f"tile {self.slots[SLOTS[words[0]]]}")
        elif name == "spend":
            yield from self.spend(words[0], words[2])
        elif name == "burn":
            for _ in range(int(words[0])):
                yield from self.act("free burn")
        elif name == "action":
            yield from self.act(BOARD_ACTIONS[words[0]])
        elif name == "fedtile":
            yield from self.act(f"token {TOKENS[words[0]]}")
        elif name == "special":
            yield from self.act(f"special {SPECIALS[words[0]]}")
        elif name in ("swap-PI", "lostPlanet"):
            yield from self.act(f"pick {self.at(words[0])}")
        elif name == "booster":
            yield from self.act(f"booster {BOOSTERS[words[0]]}")
        elif name == "pass":
            yield from self.act(f"booster {BOOSTERS[words[0]]}" if words else "pass")
        elif name == "charge":
            first = words[0].split(",")[0]
            yield from self.act("leech TOKEN_FIRST" if first.endswith("t") else "leech CHARGE")
        elif name == "decline":
            yield from self.act("leech DECLINE")
        elif name == "federation":
            yield from self.federation(words[0].split(","), words[1])
        else:
            raise Differs("command", " ".join(command), f"unknown at {seat.node}")

    def build(self, piece: str, cell: str) -> Script:
        if self.seat.node in ("START", "TARGET"):
            yield from self.act(f"pick {cell}")
        elif piece in ("m", "gf"):
            yield from self.act(f"{'mine' if piece == 'm' else 'project'} {cell}")
        else:
            yield from self.act(f"upgrade {cell}")
            if self.seat.node == "PIECE":
                yield from self.act(f"piece {PIECES[piece]}")
        if not lie.has_piece(self.seat, self.who, piece, cell):
            raise Differs("built", piece, f"another piece on {cell}")

    def spend(self, price: str, gain: str) -> Script:
        """A conversion, repeated for its amounts; one that gains nothing is not legal here."""
        seat, player = self.seat, self.who
        action, times = self.conversion(price, gain)
        ((paid, unit), *_), left = amounts(price), times
        fair, double = [times * PRICES[action]], lie.worth(seat, player) == 2
        if action == "P3_to_O" and double:  # and a credit (FRE-07)
            fair.append(4 * times)
        if paid not in fair:
            raise Differs("price", price, f"{PRICES[action]} for each of {times}")
        while left > 0:
            once = min(left, 2) if action == "P1_to_C" and double else 1  # a token is two credits
            if lie.is_full(seat, gain, player):
                self.lose(player, f"{paid // times * once}{unit}")
                left -= once
                continue
            if seat.player != player:
                raise Differs("decision", f"{price}>{gain}", f"{seat.node} of {seat.player}")
            before = int(seat.state.game.players.credits[player])
            yield from self.act(f"free {action}")
            left -= once
            gained = int(seat.state.game.players.credits[player]) - before
            if action == "P1_to_C" and double:
                surplus = max(0, gained - once)
            elif action == "P1_to_C":  # the brainstone gives three at once (FRE-10)
                surplus = 0
                left -= max(0, gained - 1)
            else:
                logged = {unit: n for n, unit in amounts(gain)}
                surplus = gained if action == "P3_to_O" and "c" not in logged else 0
            if surplus:  # what our rules give for the rest of a token (FRE-07)
                self.take(player, surplus)

    def conversion(self, price: str, gain: str) -> tuple[str, int]:
        """Our name of a recorded conversion, and how often it is taken."""
        (_, unit), *_ = amounts(price)
        gains = {kind: count for count, kind in amounts(gain)}
        if unit == "pw":
            if "o" in gains:
                pays = amounts(price)[0][0]
                double = lie.worth(self.seat, self.who) == 2
                if pays == 3 * gains["o"] and gains["o"] % 2 == 0 and double:
                    return "T3_to_2O", gains["o"] // 2
                return "P3_to_O", gains["o"]
            bought = {"q": "P4_to_Q", "k": "P4_to_K", "c": "P1_to_C"}
            target = next((name for name in bought if name in gains), "")
            if not target:
                raise Differs("conversion", f"{price} for {gain}", "not a conversion of power")
            return bought[target], gains[target]
        kind, count = next(iter(gains.items()))
        names = {
            ("o", "c"): "O_to_C",
            ("k", "c"): "K_to_C",
            ("q", "o"): "Q_to_O",
            ("o", "t"): "O_to_token",
            ("gf", "q"): "GF_to_Q",
            ("c", "q"): "C4_to_Q",
            ("c", "o"): "C3_to_O",
            ("c", "k"): "C4_to_K",
            ("t-a3", "k"): "T_to_K",
        }
        return names[unit, kind], count

    def federation(self, names: list[str], token: str) -> Script:
        """Pick the groups, commit; then the recorded satellites take the place of ours."""
        seat = self.seat
        player = seat.player
        cells = [self.cells[name] for name in names]
        numbers = {seat.rules.geometry.cell_index[cell] for cell in cells}
        before = seat.state.game
        yield from self.act("form_federation")
        while seat.node == "FEDERATION":
            picks = [
                text
                for text in seat.menu()
                if text.startswith("pick ") and lie.group_of(seat, text, before) & numbers
            ]
            if not picks and not seat.legal("commit"):
                # Hexes that touch the listed ones join without being listed.
                loose_neighbours = lie.loose(before, player) & lie.neighbours(seat, numbers)
                if loose_neighbours <= numbers:
                    raise Differs("federation", names, "not enough")
                numbers |= loose_neighbours
                continue
            yield from self.act(picks[0] if picks else "commit")
        self.put_satellites(before, player, numbers)
        yield from self.act(f"token {TOKENS[token]}")

    # -- choices that our actions cannot express: noted here, not changed

    def note(self, text: str) -> None:
        """Record a note with the first line where it happened."""
        self.unsaid.setdefault(text, self.at_line)

    def put_brainstone(self, before: GameState, player: int, place: int) -> None:
        """Compare the place of the brainstone after a command.

        Args:
            before: the game before the command.
        """
        if lie.brainstone_and_tokens(self.seat.state.game, player)[0] != place:
            self.note(ELSEWHERE)

    def leave_brainstone(self, line: Line, player: int, choices: list[int]) -> None:
        """The same after income or Gaia phase; `choices` are the recorded places in order."""
        if lie.brainstone_and_tokens(self.seat.state.game, player)[0] != choices[-1]:
            self.note(ELSEWHERE)

    def put_satellites(self, before: GameState, player: int, cells: set[int]) -> None:
        """The cells of a federation that has just been formed."""
        game = self.seat.state.game
        old = lie.marked(before, player, 0)
        new_satellites = lie.marked(game, player, 0) - old
        logged_satellites = cells - lie.members(game, player) - old
        if len(new_satellites) != len(logged_satellites):  # earlier ones are on other cells
            self.note(f"{len(new_satellites)} satellites in place of {len(logged_satellites)}")
        elif new_satellites != logged_satellites:
            self.note("satellites are on other cells")

    def lose(self, player: int, price: str) -> None:
        """A conversion whose gain has no room (FRE-03)."""
        self.note(LOST)

    def take(self, player: int, credits: int) -> None:
        """Half a token, for which our rules give credits (FRE-07)."""
        self.note(HALF)
