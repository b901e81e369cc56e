"""A recorded game told in our actions, line by line."""

from __future__ import annotations

import re
from typing import Any

from tests.replays import layouts
from tests.replays.notation import (
    BOARD_ACTIONS,
    BOOSTERS,
    FACTIONS,
    PIECES,
    SLOTS,
    SPECIALS,
    TECHS,
    TOKENS,
    hex_names,
)
from tests.replays.table import Differs, Script, Seat

BETWEEN = ("roundIncome", "roundGaia")  # phases in which some players are ahead of the others


class Line:
    """One line of a record."""

    def __init__(self, number: int, step: dict[str, Any], names: set[str]) -> None:
        self.number, self.text, self.who = number, step["l"], step["p"]
        self.options: dict[str, Any] | None = step["op"]
        self.after: dict[str, Any] | None = step["s"]
        words = self.text.rstrip(". ").split(" ", 1)
        told = words[1] if words[0] in names and len(words) > 1 else ""
        self.commands = [cmd.strip().split() for cmd in told.split(". ") if cmd.strip()]
        self.commands = [cmd for cmd in self.commands if cmd[0] != "endturn"]

    @property
    def is_leech(self) -> bool:
        return bool(self.commands) and self.commands[0][0] in ("charge", "decline")


class Player:
    """Plays the commands of lines at a seat."""

    def __init__(self, seat: Seat, record: dict[str, Any]) -> None:
        self.seat, self.record = seat, record
        self.cells = hex_names(record["setup"])
        self.slots = {SLOTS[s]: TECHS[t] for s, t in record["setup"]["techs"].items() if s in SLOTS}
        names = {words[2] for st in record["steps"] if len(words := st["l"].split()) == 3}
        names = {name for name in names if name in FACTIONS}
        self.lines = [
            Line(i, step, names)
            for i, step in enumerate(record["steps"])
            if step["s"] and step["l"].split()[0] in names
        ]
        # What a player does after the main action, while the others are still asked for leech.
        self.waiting: tuple[int, list[list[str]]] | None = None
        # Conversions whose gain was lost entirely, which our rules do not offer (FRE-03).
        self.wasted = 0

    # -- one action

    def act(self, text: str) -> Script:
        seat = self.seat
        if not seat.legal(text):
            raise Differs(f"legal {seat.node}", text, "not legal")
        yield seat.table.index[text]

    def at(self, name: str) -> str:
        """The text of a recorded place."""
        q, r = self.cells[name]
        return f"{q},{r}"

    # -- lines

    def line(self, line: Line) -> Script:
        """A line outside the phases between the turns."""
        seat = self.seat
        wanted = ("LEECH",) if line.is_leech else ("START", "BOOSTER", "TURN")
        if seat.node not in wanted or seat.player != line.who:
            ours = f"{seat.node} of player {seat.player}"
            raise Differs("decision", f"{wanted} of player {line.who}", ours)
        yield from self.commands(line.who, list(line.commands))
        if line.is_leech and self.waiting and seat.node != "LEECH":
            who, rest = self.waiting
            self.waiting = None
            yield from self.commands(who, rest)
        yield from self.end_turn()

    def end_turn(self) -> Script:
        while self.seat.node == "AFTER" and not self.waiting:
            yield from self.act("end_turn")

    def commands(self, who: int, commands: list[list[str]]) -> Script:
        leech = commands and commands[0][0] in ("charge", "decline") and len(commands[0]) > 1
        while commands:
            asked = self.seat.node == "LEECH"
            if asked and commands[0] == ["decline", "up"]:
                commands.pop(0)
                continue
            if asked and not (leech and self.seat.player == who and commands[0][0] != "spend"):
                commands = [c for c in commands if c[0] != "brainstone"]
                self.waiting = (who, commands) if commands else None
                return
            command = commands.pop(0)
            yield from self.command(command, commands)
            leech = False

    def between(self, lines: list[Line]) -> Script:
        """Income and Gaia phase: our game asks, each player answers from the own lines."""
        queues: dict[int, list[list[str]]] = {player: [] for player in range(4)}
        for line in lines:
            queues[line.who] += [c for c in line.commands if c[0] != "brainstone"]
        seat = self.seat
        while seat.node != "TURN":
            queue = queues[seat.player]
            if seat.node == "INCOME":
                yield from self.income(queue)
            elif seat.node == "TERRANS":
                yield from self.terrans(queue)
            elif seat.node == "ITARS":
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
        """What the returning tokens buy; the rest becomes credits by itself (GAI-08)."""
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
        elif name == "decline" and words[0] == "up":
            if seat.node in ("STEP", "TARGET"):  # else no track can advance (A12)
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
        elif name != "brainstone":
            raise Differs("command", " ".join(command), f"unknown at {seat.node}")

    def build(self, piece: str, cell: str) -> Script:
        node = self.seat.node
        if node in ("START", "TARGET"):
            yield from self.act(f"pick {cell}")
        elif piece in ("m", "gf"):
            yield from self.act(f"{'mine' if piece == 'm' else 'project'} {cell}")
        else:
            yield from self.act(f"upgrade {cell}")
            if self.seat.node == "PIECE":
                yield from self.act(f"piece {PIECES[piece]}")

    def spend(self, price: str, gain: str) -> Script:
        """A conversion, as often as the amounts say."""
        action, times = self.conversion(price, gain)
        if action == "P1_to_C":  # the brainstone alone gives three at once (FRE-10)
            left = times
            while left > 0:
                if seat_is_full(self.seat, gain):
                    self.wasted += 1
                    layouts.pay(self.seat, price, times)
                    left -= 1
                    continue
                before = int(self.seat.state.game.players.credits[self.seat.player])
                yield from self.act("free P1_to_C")
                now = int(self.seat.state.game.players.credits[self.seat.player])
                left -= max(now - before, 1)
            return
        for _ in range(times):
            if seat_is_full(self.seat, gain):
                self.wasted += 1
                layouts.pay(self.seat, price, times)
            else:
                yield from self.act(f"free {action}")

    def conversion(self, price: str, gain: str) -> tuple[str, int]:
        """Our name of a recorded conversion, and how often it is taken."""
        (_, unit), *_ = amounts(price)
        gains = {kind: count for count, kind in amounts(gain)}
        if unit == "pw":
            if "o" in gains:
                pays = amounts(price)[0][0]
                if pays == 3 * gains["o"] and gains["o"] % 2 == 0 and self.worth() == 2:
                    return "T3_to_2O", gains["o"] // 2
                return "P3_to_O", gains["o"]
            kind = next(kind for kind in ("q", "k", "c") if kind in gains)
            return {"q": ("P4_to_Q"), "k": "P4_to_K", "c": "P1_to_C"}[kind], gains[kind]
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

    def worth(self) -> int:
        """What a token of bowl III is worth to the decider."""
        game, player = self.seat.state.game, self.seat.player
        faction = self.seat.rules.factions[int(game.setup.faction[player])]
        return faction.pi_power_worth if game.players.built[player, 4] else 1

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
                if text.startswith("pick ") and layouts.group_of(seat, text, before) & numbers
            ]
            if not picks and not seat.legal("commit"):
                # Not all are listed: what touches the listed hexes joins by itself.
                more = layouts.loose(before, player) & layouts.neighbours(seat, numbers)
                if more <= numbers:
                    raise Differs("federation", names, "not enough")
                numbers |= more
                continue
            yield from self.act(picks[0] if picks else "commit")
        layouts.adopt(seat, before, player, numbers)
        yield from self.act(f"token {TOKENS[token]}")


def seat_is_full(seat: Seat, gain: str) -> bool:
    """Whether nothing of a conversion's gain has room."""
    players, player = seat.state.game.players, seat.player
    names = {"c": "credits", "o": "ore", "k": "knowledge"}
    caps = {"credits": 30, "ore": 15, "knowledge": 15}
    held = [names.get(unit) for _, unit in amounts(gain)]
    return all(name and int(getattr(players, name)[player]) >= caps[name] for name in held)


def amounts(text: str) -> list[tuple[int, str]]:
    """ "4pw" -> [(4, "pw")], "1o,1c" -> [(1, "o"), (1, "c")]."""
    found = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d*)(t-a3|[a-z]+)", part)
        if match is None:
            raise Differs("amount", text, "unknown")
        found.append((int(match[1] or 1), match[2]))
    return found
