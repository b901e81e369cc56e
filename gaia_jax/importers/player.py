"""Play a recorded game by our actions, line by line."""

from __future__ import annotations

import re

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
    Log,
    MismatchError,
    amounts,
    hex_names,
)
from gaia_jax.importers.position import (
    Position,
    Script,
    brainstone_and_tokens,
    group_of,
    has_piece,
    is_full,
    loose,
    marked,
    members,
    neighbours,
    place_in,
    wants_other_way,
    worth,
)
from gaia_jax.state import GameState

# Notes after which a player's stocks differ from ours.
LOST = "a conversion whose gain is lost was not made"
HALF = "half a token brought credits"
ELSEWHERE = "the brainstone is in another place"


class Player:
    """Plays the commands of lines at a position."""

    def __init__(self, position: Position, record: Log) -> None:
        self.position, self.record = position, record
        self.cells = hex_names(record["setup"])
        self.slots = {SLOTS[s]: TECHS[t] for s, t in record["setup"]["techs"].items() if s in SLOTS}
        self.lines = lines_of(record)
        # Commands of a player after the main action, while others still answer leech offers.
        self.waiting: tuple[int, list[list[str]]] | None = None
        self.at_line: Line | None = None  # the one that is played
        # Choices that our actions cannot express, and the first line of each.
        self.inexpressible: dict[str, Line | None] = {}
        self.before: GameState = position.state.game  # the game before the last decision
        self.who = 0  # whose command is played

    def waiting_for(self) -> int | None:
        """The player with conversions to come once leech is answered."""
        return self.waiting[0] if self.waiting else None

    # -- one action

    def act(self, text: str) -> Script:
        position = self.position
        if not position.legal(text):
            raise MismatchError(f"legal {position.node}", text, "not legal")
        if text == "pass":
            self.before = position.state.game
        yield position.rules.actions.by_text[text]

    def at(self, name: str) -> str:
        """The text of a recorded place."""
        if name not in self.cells:
            raise MismatchError("place", name, "not on the map")
        q, r = self.cells[name]
        return f"{q},{r}"

    # -- lines

    def line(self, line: Line) -> Script:
        """A line outside the phases between the turns."""
        position, self.at_line = self.position, line
        expected_nodes = ("LEECH",) if line.is_leech else ("START", "BOOSTER", "TURN")
        if position.node not in expected_nodes or position.player != line.who:
            expected = f"{expected_nodes} of player {line.who}"
            raise MismatchError("decision", expected, position.decision)
        yield from self.commands(line.who, list(line.commands))
        if line.is_leech and self.waiting and position.node != "LEECH":
            player, rest = self.waiting
            self.waiting = None
            yield from self.commands(player, rest)
        yield from self.end_turn()

    def end_turn(self) -> Script:
        while self.position.node == "AFTER" and not self.waiting:
            yield from self.act("end_turn")

    def commands(self, player: int, commands: list[list[str]]) -> Script:
        """Commands of one player; the rest waits while others answer leech offers."""
        position, answers = self.position, is_leech(commands)
        while commands:
            if not answers and self.nothing_to_decline(commands):
                commands.pop(0)  # no track can advance (A12)
                continue
            if position.node == "LEECH" and not answers:
                if self.waiting is not None:
                    raise MismatchError("decision", commands, "another player waits already")
                self.waiting = (player, commands)
                return
            if position.player != player and commands[0][0] != "spend":
                raise MismatchError("decision", commands, position.decision)
            yield from self.next_command(player, commands)
            if answers and commands:
                raise MismatchError("decision", commands, "none after an answer")

    def nothing_to_decline(self, commands: list[list[str]]) -> bool:
        """Whether a research step is declined that our game does not offer."""
        return commands[0] in STEP_DECLINED and self.position.node not in ("STEP", "TARGET")

    def next_command(self, player: int, commands: list[list[str]]) -> Script:
        """The next command, and the place of the brainstone that is recorded after it."""
        position, command = self.position, commands.pop(0)
        place = None
        if commands and commands[0][0] == "brainstone":
            place = place_in(commands.pop(0))
        before, self.who = position.state.game, player
        pays = command, place
        if command[0] == "special" and [cmd[0] for cmd in commands[:2]] == ["build", "brainstone"]:
            pays = commands[0], place_in(commands[1])  # the target's node has no conversions
        if wants_other_way(position, player, *pays):
            yield from self.act("free brainstone")
        yield from self.command(command, commands)
        if place is None:
            return
        while commands and position.node == "TARGET" and position.player == player:
            yield from self.command(commands.pop(0), commands)  # we pay with the target
        self.put_brainstone(before, player, place)

    def between(self, lines: list[Line]) -> Script:
        """Income and Gaia phase: each decision of our game is answered from its player's lines."""
        position = self.position
        players = len(self.record["vp"])
        queues: dict[int, list[list[str]]] = {player: [] for player in range(players)}
        places: dict[int, list[int]] = {}
        for line in lines:
            self.at_line = line
            for command in line.commands:
                if command[0] == "brainstone":
                    places.setdefault(line.who, []).append(place_in(command))
                elif command[0] == "income":  # several parts in their order: 2t,3pw
                    queues[line.who] += [["income", part] for part in command[1].split(",")]
                else:
                    queues[line.who].append(command)
        while position.node != "TURN":
            queue, self.who = queues[position.player], position.player
            self.at_line = ([line for line in lines if line.who == self.who] or lines)[-1]
            while position.node != "INCOME" and queue and queue[0][0] == "income":
                queue.pop(0)  # a part that our game took by itself
            if position.node == "INCOME":
                yield from self.income(queue)
            elif position.node == "TERRANS":
                yield from self.terrans(queue)
            elif position.node == "ITARS":
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
                raise MismatchError("decision", "none", position.decision)
        left = [c for queue in queues.values() for c in queue if c[0] not in ("income", "decline")]
        if [c for c in left if not (c[0] == "spend" and c[1].endswith("tg"))]:
            raise MismatchError("decision", left, "none")
        for player, choices in places.items():
            self.leave_brainstone(lines[-1], player, choices)

    def income(self, queue: list[list[str]]) -> Script:
        menu = [text.split()[1] for text in self.position.menu()]
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
        game, player = self.position.state.game, self.position.player
        rules = self.position.rules
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
        position = self.position
        if name == "build":
            yield from self.build(words[0], self.at(words[1]))
        elif name == "up":
            yield from self.act(f"advance {SLOTS[words[0]]}")
        elif command in STEP_DECLINED and (words or position.node != "LEECH"):
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
            raise MismatchError("command", " ".join(command), f"unknown at {position.node}")

    def build(self, piece: str, cell: str) -> Script:
        if self.position.node in ("START", "TARGET"):
            yield from self.act(f"pick {cell}")
        elif piece in ("m", "gf"):
            yield from self.act(f"{'mine' if piece == 'm' else 'project'} {cell}")
        else:
            yield from self.act(f"upgrade {cell}")
            if self.position.node == "PIECE":
                yield from self.act(f"piece {PIECES[piece]}")
        if not has_piece(self.position, self.who, piece, cell):
            raise MismatchError("built", piece, f"another piece on {cell}")

    def spend(self, price: str, gain: str) -> Script:
        """A conversion, repeated for its amounts; one that gains nothing is not legal here."""
        position, player = self.position, self.who
        action, times = self.conversion(price, gain)
        ((paid, unit), *_), left = amounts(price), times
        fair, double = [times * PRICES[action]], worth(position, player) == 2
        if action == "P3_to_O" and double:  # and a credit (FRE-07)
            fair.append(4 * times)
        if paid not in fair:
            raise MismatchError("price", price, f"{PRICES[action]} for each of {times}")
        while left > 0:
            once = min(left, 2) if action == "P1_to_C" and double else 1  # a token is two credits
            if is_full(position, gain, player):
                self.lose(player, f"{paid // times * once}{unit}")
                left -= once
                continue
            if position.player != player:
                raise MismatchError("decision", f"{price}>{gain}", position.decision)
            before = int(position.state.game.players.credits[player])
            yield from self.act(f"free {action}")
            left -= once
            gained = int(position.state.game.players.credits[player]) - before
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
                double = worth(self.position, self.who) == 2
                if pays == 3 * gains["o"] and gains["o"] % 2 == 0 and double:
                    return "T3_to_2O", gains["o"] // 2
                return "P3_to_O", gains["o"]
            bought = {"q": "P4_to_Q", "k": "P4_to_K", "c": "P1_to_C"}
            target = next((name for name in bought if name in gains), "")
            if not target:
                raise MismatchError(
                    "conversion", f"{price} for {gain}", "not a conversion of power"
                )
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
        position = self.position
        player = position.player
        cells = [self.cells[name] for name in names]
        numbers = {position.rules.geometry.cell_index[cell] for cell in cells}
        before = position.state.game
        yield from self.act("form_federation")
        while position.node == "FEDERATION":
            picks = [
                text
                for text in position.menu()
                if text.startswith("pick ") and group_of(position, text, before) & numbers
            ]
            if not picks and not position.legal("commit"):
                # Hexes that touch the listed ones join without being listed.
                loose_neighbours = loose(before, player) & neighbours(position, numbers)
                if loose_neighbours <= numbers:
                    raise MismatchError("federation", names, "not enough")
                numbers |= loose_neighbours
                continue
            yield from self.act(picks[0] if picks else "commit")
        self.put_satellites(before, player, numbers)
        yield from self.act(f"token {TOKENS[token]}")

    # -- choices that our actions cannot express: noted here, not changed

    def note(self, text: str) -> None:
        """Record a note with the first line where it happened."""
        self.inexpressible.setdefault(text, self.at_line)

    def put_brainstone(self, before: GameState, player: int, place: int) -> None:
        """Compare the place of the brainstone after a command.

        Args:
            before: the game before the command.
        """
        if brainstone_and_tokens(self.position.state.game, player)[0] != place:
            self.note(ELSEWHERE)

    def leave_brainstone(self, line: Line, player: int, choices: list[int]) -> None:
        """The same after income or Gaia phase; `choices` are the recorded places in order."""
        if brainstone_and_tokens(self.position.state.game, player)[0] != choices[-1]:
            self.note(ELSEWHERE)

    def put_satellites(self, before: GameState, player: int, cells: set[int]) -> None:
        """The cells of a federation that has just been formed."""
        game = self.position.state.game
        old = marked(before, player, 0)
        new_satellites = marked(game, player, 0) - old
        logged_satellites = cells - members(game, player) - old
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
