"""Games of the referee in the form of recorded ones, so that the reader can be tried without any.

`record(...)` plays a game of the `base` rules and writes it as the public engine would: its names,
its coordinates, a line for each turn and each answer, the offers before and the state after.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from gaia_jax.importers import notation
from gaia_jax.importers.notation import cell_from_log
from tests.referee.board import Cell
from tests.referee.federation import builder
from tests.referee.game import Game
from tests.referee.income import power_income
from tests.referee.player import Player
from tests.referee.policies import Rare
from tests.referee.setup import draw
from tests.referee.upgrade import pieces
from tests.replays.compare import LETTERS, PHASES, RANGES

FACTIONS = {own: name for name, own in notation.FACTIONS.items()}
BOOSTERS = {own: name for name, own in notation.BOOSTERS.items()}
TECHS = {own: name for name, own in notation.TECHS.items()}
TOKENS = {own: name for name, own in notation.TOKENS.items()}
SLOTS = {own: name for name, own in notation.SLOTS.items()}
BOARD = {own: name for name, own in notation.BOARD_ACTIONS.items()}
PIECES = {own: name for name, own in notation.PIECES.items()}
SPECIALS = {own: name for name, own in notation.SPECIALS.items() if own != "FACTION"}
FACTION_SPECIALS = {
    "BESCODS": "up-lowest",
    "HIVES": "space-station",
    "AMBAS": "swap-PI",
    "FIRAKS": "down-lab",
}
CONVERSIONS = {
    "P1_to_C": ("1pw", "1c"), "P3_to_O": ("3pw", "1o"), "P4_to_K": ("4pw", "1k"),
    "P4_to_Q": ("4pw", "1q"), "K_to_C": ("1k", "1c"), "O_to_C": ("1o", "1c"),
    "Q_to_O": ("1q", "1o"), "O_to_token": ("1o", "1t"), "GF_to_Q": ("1gf", "1q"),
    "C4_to_K": ("4c", "1k"), "C3_to_O": ("3c", "1o"), "C4_to_Q": ("4c", "1q"),
    "T_to_K": ("1t-a3", "1k"), "T3_to_2O": ("6pw", "2o"),
}  # fmt: skip
NEVLAS = CONVERSIONS | {"P1_to_C": ("2pw", "2c"), "P3_to_O": ("4pw", "1o,1c")}
TERRANS = {"P4_to_Q": ("4tg", "1q"), "P3_to_O": ("3tg", "1o"), "P4_to_K": ("4tg", "1k")}
AREAS = {0: "area1", 1: "area2", 2: "area3", 3: "gaia", -1: "discard"}
OWN_LINE = ("START", "BOOSTER", "INCOME", "TERRANS", "ITARS", "LEECH")
BETWEEN = {"INCOME": "roundIncome", "TERRANS": "roundGaia", "ITARS": "roundGaia"}
Power = tuple[int, list[int]]  # where the brainstone is; tokens of the bowls and the Gaia area


class Recorder:
    """A game of the referee, and its lines so far."""

    def __init__(self, setup: dict[str, Any], name: str) -> None:
        self.setup = setup | {"turn_order": list(range(len(setup["factions"])))}
        self.game = Game(self.setup, "base")
        self.name = name
        map_data: dict[str, list[Any]] = {"hexes": [], "sectors": []}
        self.map_data = map_data
        for laid, cells, (q, r) in zip(
            self.setup["sectors"],
            self.game.board.geometry.sector_hexes,
            self.game.rules.map["sector_centres"],
            strict=True,
        ):
            tile = laid["tile"].removeprefix("M").lstrip("0")
            tile += "A" if tile in ("5", "6", "7") else ""
            map_data["sectors"].append([tile, laid["rotation"], *cell_from_log(q, r)])
            map_data["hexes"] += [
                [*cell_from_log(*c), self.letter(self.cell(c)), tile] for c in cells
            ]
        self.names = {self.cell(c): name for name, c in notation.hex_names(map_data).items()}
        self.steps: list[dict[str, Any]] = [
            {"l": f"p{n + 1} faction {FACTIONS[f]}", "p": n, "op": None, "s": None}
            for n, f in enumerate(self.setup["factions"])
        ]
        self.open = False  # a line is open: the last step
        self.commands: dict[int, list[str]] = {}  # by number of the step
        self.turn = 0  # the step of the turn that is played
        self.upgrading = ""
        self.forming: tuple[set[Cell], list[list[Cell]]] | None = None
        self.paying: int | None = None  # the place of a power action whose target is not chosen

    def cell(self, hex_: tuple[int, int]) -> Cell:
        return self.game.board.geometry.index[hex_]

    def letter(self, cell: Cell) -> str:
        return LETTERS[self.game.board.planet[cell]]

    def place(self, text: str) -> str:
        """The recorded name of a cell "q,r"."""
        return self.names[self.game.board.geometry.cell(text)]

    # -- playing

    def play(self, rng: random.Random, taste: dict[str, float]) -> dict[str, Any]:
        """Play to the end; the record."""
        choose, game = Rare(taste), self.game
        power: Power = (0, [])
        while not game.over:
            node, player = game.node, game.players[game.current_player]
            if not self.open:
                self.steps.append({"l": "", "p": player.number, "op": self.offers(), "s": None})
                self.commands[len(self.steps) - 1] = []
                self.open = True
            if node == "TURN":
                self.turn = len(self.steps) - 1
            text = choose(rng, sorted(game.legal_actions()), game)
            if text == "form_federation":
                self.forming = player.federated | player.satellites, []
                self.groups = builder(game, player).groups
                power = _power(player)  # a federation is one command
            elif self.forming is None:
                power = _power(player)
            game.apply(text)
            commands = self.commands[self.turn if node == "AFTER" else len(self.steps) - 1]
            commands += self.describe(player, node, text)
            self.insert_brainstone(player, node, text, power, commands, rng)
            ends = game.over or game.node in OWN_LINE or self.is_new_turn(node, text)
            if ends and not self.goes_on(player):
                self.close()
        self.set_order_of_set_up()
        return self.as_record()

    def goes_on(self, player: Player) -> bool:
        """Whether a line between the turns continues: it has all decisions of one player."""
        before, game = self.steps[-2]["s"], self.game
        phase = BETWEEN.get(game.node)
        same = before is not None and before["ph"] == phase is not None
        return same and game.current_player == player.number and not game.over

    def set_order_of_set_up(self) -> None:
        """That engine's turn order at set-up: who is asked after the next one, in this phase."""
        for number, step in enumerate(self.steps):
            if step["s"] and step["s"]["ph"].startswith("setup"):
                lines = pairwise(self.steps[number:])
                phase = step["s"]["ph"]
                order = [later["p"] for last, later in lines if last["s"]["ph"] == phase]
                step["s"]["order"] = order[1:]

    def is_new_turn(self, node: str, text: str) -> bool:
        if self.game.node != "TURN":
            return False
        return not (node == "TURN" and text.startswith("free "))

    def close(self) -> None:
        """The open line has ended; conversions after leech were added to the turn's line."""
        self.open = False
        last = len(self.steps) - 1
        self.steps[last]["s"] = self.state()
        for number in {self.turn, last} - {0}:
            step = self.steps[number]
            faction = FACTIONS[self.setup["factions"][step["p"]]]
            step["l"] = f"{faction} {'. '.join(self.commands[number])}"

    def describe(self, player: Player, node: str, text: str) -> list[str]:
        """The commands that an action is, after it was played."""
        verb, _, argument = text.partition(" ")
        if verb == "upgrade":
            self.upgrading = argument
            if self.game.node == "PIECE":
                return []
            piece = player.structures[self.game.board.geometry.cell(argument)]
            return [f"build {PIECES[piece]} {self.place(argument)}"]
        if verb == "piece":
            return [f"build {PIECES[argument]} {self.place(self.upgrading)}"]
        if node == "FEDERATION" and verb == "pick" and self.forming is not None:
            lowest = self.game.board.geometry.cell(argument)
            self.forming[1].extend(g for g in self.groups if min(g) == lowest)
            return []
        if verb == "token" and self.forming is not None:
            before, picked = self.forming
            cells = (player.satellites - before).union(*picked)
            self.forming = None
            names = ",".join(sorted(self.names[c] for c in cells))
            return [f"federation {names} {TOKENS[argument]}"]
        if verb in ("form_federation", "commit", "end_turn"):
            return []
        if node in ("TERRANS", "ITARS"):
            return self.describe_gaia(node, verb, argument)
        return [self.command(player, node, verb, argument)]

    def describe_gaia(self, node: str, verb: str, argument: str) -> list[str]:
        if verb == "skip":
            return ["decline tech"]
        if node == "TERRANS":
            price, gain = TERRANS[argument]
            return [f"spend {price} for {gain}"]
        return ["spend 4tg for tech", self.tile(verb, argument)]

    def tile(self, verb: str, argument: str) -> str:
        if verb == "advanced":
            return f"tech adv-{SLOTS[argument]}"
        slot = {tile: slot for slot, tile in self.setup["basic_tiles"].items()}[argument]
        return f"tech {SLOTS[slot]}"

    def command(self, player: Player, node: str, verb: str, argument: str) -> str:
        """One command of the recorded engine."""
        simple = {
            "advance": lambda: f"up {SLOTS[argument]}",
            "skip": lambda: "decline up",
            "booster": lambda: f"{'pass' if node == 'TURN' else 'booster'} {BOOSTERS[argument]}",
            "pass": lambda: "pass",
            "power": lambda: f"action {BOARD['power ' + argument]}",
            "qic": lambda: f"action {BOARD['qic ' + argument]}",
            "token": lambda: f"fedtile {TOKENS[argument]}",
            "special": lambda: f"special {self.special(player, argument)}",
            "income": lambda: self.income(player, argument),
            "leech": lambda: self.leech(argument),
            "mine": lambda: f"build m {self.place(argument)}",
            "project": lambda: f"build gf {self.place(argument)}",
            "advanced": lambda: self.tile(verb, argument),
            "pick": lambda: self.pick(player, node, argument),
            "free": lambda: self.conversion(player, argument),
        }
        if verb == "tile":
            text = self.tile(verb, argument)
            return text.replace("tech", "cover") if node == "COVER" else text
        return simple[verb]()

    def special(self, player: Player, argument: str) -> str:
        return FACTION_SPECIALS[player.faction] if argument == "FACTION" else SPECIALS[argument]

    def income(self, player: Player, atom: str) -> str:
        charges, tokens = power_income(self.game, player)
        return f"income {charges[atom]}pw" if atom in charges else f"income {tokens[atom]}t"

    def leech(self, argument: str) -> str:
        texts = {"DECLINE": "decline 1pw", "TOKEN_FIRST": "charge 1t,1pw", "CHARGE": "charge 1pw"}
        return texts[argument]

    def pick(self, player: Player, node: str, argument: str) -> str:
        place, cell = self.place(argument), self.game.board.geometry.cell(argument)
        if node == "LOST_PLANET":
            return f"lostPlanet {place}"
        if node == "START":
            return f"build {PIECES[player.structures[cell]]} {place}"
        started = self.commands[len(self.steps) - 1][-1].split()
        if started[1] == "swap-PI":
            return f"swap-PI {place}"
        if self.game.board.gaiaformer[cell] == player.number:
            return f"build gf {place}"
        piece = {"down-lab": "ts", "space-station": "sp"}.get(started[1], "m")
        return f"build {piece} {place}"

    def conversion(self, player: Player, argument: str) -> str:
        if argument == "brainstone":
            return ""  # the command names where it goes
        if argument == "burn":
            return "burn 1"
        price, gain = self.prices(player)[argument]
        return f"spend {price} for {gain}"

    def prices(self, player: Player) -> dict[str, tuple[str, str]]:
        return NEVLAS if player.has_pi("NEVLAS") else CONVERSIONS

    def insert_brainstone(
        self, player: Player, node: str, text: str, before: Power, commands: list[str], rng: Any
    ) -> None:
        """Insert the brainstone's place after the command that moved power.

        What is charged at leech sometimes leaves the brainstone in its bowl, as that engine allows.
        """
        commands[:] = [command for command in commands if command]
        verb, was = text.split()[0], before[0]
        if not player.is_("TAKLONS") or verb in ("booster", "pass", "end_turn"):
            return
        if self.forming is not None:  # comes after the federation
            return
        if verb == "power":
            self.paying = len(commands)
        if _power(player) == before:
            return
        moved = node == "LEECH" and player.brainstone != was and self.open_to_others(player)
        if moved and player.bowls[was] and rng.random() < 0.5:
            player.bowls[was] -= 1
            player.bowls[player.brainstone] += 1
            player.brainstone = was
        at = len(commands) if self.paying is None else self.paying
        commands.insert(at, f"brainstone {AREAS[player.brainstone]}")
        self.paying = None

    def open_to_others(self, player: Player) -> bool:
        return self.game.current_player != player.number

    # -- what is offered

    def offers(self) -> dict[str, Any] | None:
        """The legal actions as the recorded engine offers them; None where it does not ask."""
        game, player = self.game, self.game.players[self.game.current_player]
        offered: dict[str, Any] = {}
        if game.node not in ("START", "BOOSTER", "TURN", "LEECH"):
            return None
        for text in sorted(game.legal_actions()):
            verb, _, argument = text.partition(" ")
            if verb == "upgrade":
                cell = game.board.geometry.cell(argument)
                for piece in pieces(game, player, cell):
                    offered.setdefault("build", []).append([PIECES[piece], self.place(argument)])
            elif verb in ("mine", "project", "pick"):
                piece = "gf" if verb == "project" else "m"
                offered.setdefault("build", []).append([piece, self.place(argument)])
            elif verb == "advance":
                offered.setdefault("up", []).append(SLOTS[argument])
            elif verb in ("power", "qic"):
                offered.setdefault("action", []).append(BOARD[text])
            elif verb == "special":
                offered.setdefault("special", []).append(self.special(player, argument))
            elif text == "free burn":
                offered["burn"] = [1]
            elif verb == "free" and argument != "brainstone":
                price, gain = self.prices(player)[argument]
                offered.setdefault("spend", []).append(f"{price}>{gain}")
            elif verb == "booster":
                kind = "pass" if game.node == "TURN" else "booster"
                offered.setdefault(kind, []).append(BOOSTERS[argument])
            elif verb == "pass":
                offered["pass"] = []
            elif verb == "form_federation":
                offered["federation"] = [["?", 0, 0, 0]]
            elif verb == "leech":
                kind, offer = self.leech(argument).split()
                offered.setdefault(kind, {"offers": []})["offers"].append({"offer": offer})
        return offered

    # -- the state after a line

    def state(self) -> dict[str, Any]:
        game, board = self.game, self.game.board
        passed = [player.number for player in game.pass_order]
        pool = set(self.setup["boosters"])
        pool -= {p.booster for p in game.players if not self.gave_back(p)}
        five = any(player.tracks["terraforming"] == 5 for player in game.players)
        used = {BOARD[text] for text in BOARD if text.split()[1] in game.used}
        cells = range(len(board.planet))
        return {
            "ph": BETWEEN.get(game.node) or PHASES[game.node],
            "rd": game.round,
            "to": game.current_player,
            "order": [p for p in game.turn_order if p not in passed],
            "passed": passed,
            "board": dict.fromkeys(sorted(used), 0),
            "pool": sorted(BOOSTERS[booster] for booster in pool),
            "fedpool": {TOKENS[kind]: left for kind, left in game.token_supply.items()},
            "tfed": None if five else TOKENS[self.setup["tf5_token"]],
            "pl": [self.row(player) for player in game.players],
            "map": [entry for cell in cells if (entry := self.on_map(cell))],
        }

    def gave_back(self, player: Player) -> bool:
        """In the last round who passes gives the booster back."""
        return self.game.round == 6 and player.passed

    def row(self, player: Player) -> dict[str, Any]:
        built = [player.count(piece) for piece in PIECES]
        formers = self.game.board.gaiaformer.count(player.number)
        tokens = [TOKENS[kind] for kind, n in player.tokens.items() for _ in range(n)]
        given = self.gave_back(player)
        # A special action goes with its booster, or under the tile that covers it.
        hidden = set(BOOSTERS) - ({player.booster} if not given else set())
        hidden |= {tile for tile, covered in player.tiles.items() if covered}
        used = {self.special(player, name) for name in player.used if name not in hidden}
        return {
            "f": FACTIONS[player.faction],
            "vp": self.final_vp(player) if self.game.over else player.vp,
            "c": player.credits,
            "o": player.ore,
            "k": player.knowledge,
            "q": player.qic,
            "pw": [*player.bowls, player.gaia_tokens],
            "bs": AREAS[player.brainstone] if player.brainstone >= 0 else None,
            "res": list(player.tracks.values()),
            "b": [built[0] - (player.lost_planet is not None), *built[1:], formers]
            + [len(player.stations)],
            "lost": int(player.lost_planet is not None),
            "sat": len(player.satellites),
            "rng": RANGES[player.tracks["navigation"]],
            "gf": player.gaiaformers + formers + player.gaiaformers_in_gaia_area,
            "gfg": player.gaiaformers_in_gaia_area,
            "boost": None if player.booster is None or given else BOOSTERS[player.booster],
            "tech": sorted(self.tiles(player)),
            "fed": [t + ("+" if i < player.green else "-") for i, t in enumerate(tokens)],
            "fc": player.federations_formed,
            "used": sorted(used),
        }

    def tiles(self, player: Player) -> Iterator[str]:
        slots = {tile: slot for slot, tile in self.setup["basic_tiles"].items()}
        for tile, covered in player.tiles.items():
            yield f"{TECHS[tile]}@{SLOTS[slots[tile]]}{'!' if covered else ''}"
        slots = {tile: slot for slot, tile in self.setup["advanced_tiles"].items()}
        for tile in player.advanced:
            yield f"{TECHS[tile]}@adv-{SLOTS[slots[tile]]}"

    def on_map(self, cell: Cell) -> list[Any] | None:
        board, players = self.game.board, self.game.players
        owner, guest = board.owner[cell], board.guest[cell]
        piece = PIECES[players[owner].structures[cell]] if owner is not None else ""
        if (former := board.gaiaformer[cell]) is not None:
            piece, owner = "gf", former
        for player in players:
            if cell in player.stations:
                piece, owner = "sp", player.number
        inside = [p.number for p in players if cell in p.federated or cell in p.satellites]
        fed = "".join(map(str, inside))
        planet = self.letter(cell)
        if planet == "e" and not piece and not fed:
            return None
        owner_number = -1 if owner is None else owner
        q, r = cell_from_log(*board.geometry.cells[cell])
        return [q, r, planet, piece, owner_number, -1 if guest is None else guest, fed]

    def final_vp(self, player: Player) -> int:
        """VP with what that engine makes of what is left: bowl II burned, power and QIC sold."""
        stone, worth = player.brainstone, 2 if player.has_pi("NEVLAS") else 1
        burned = (player.bowls[1] + (stone == 1)) // 2
        power = 3 if stone == 2 or (stone == 1 and burned) else 0
        tokens = player.bowls[2] + burned - (stone == 1 and burned > 0)
        credits = min(player.credits + power + tokens * worth, 30)
        ore = min(player.ore + player.qic, 15)
        left = (credits + ore + player.knowledge) // 3
        return player.vp - player.vp_source["RESOURCES"] + left

    def as_record(self) -> dict[str, Any]:
        setup, slots = self.setup, {**self.setup["basic_tiles"]}
        techs = {SLOTS[slot]: TECHS[tile] for slot, tile in slots.items()}
        techs |= {f"adv-{SLOTS[s]}": TECHS[t] for s, t in setup["advanced_tiles"].items()}
        rounds = {own: name for name, own in notation.ROUNDS.items()}
        finals = {own: name for name, own in notation.FINALS.items()}
        setup_fields = {
            "boosters": [BOOSTERS[booster] for booster in setup["boosters"]],
            "techs": techs,
            "rounds": [rounds[tile] for tile in setup["round_tiles"]],
            "final": [finals[mission] for mission in setup["final_missions"]],
            "tfed": TOKENS[setup["tf5_token"]],
        }
        if len(self.game.players) == 2:
            counts = self.game.rules.neutral_counts
            setup_fields["neutral"] = {finals[m]: counts[m] for m in setup["final_missions"]}
        rows = self.steps[-1]["s"]["pl"]
        return {
            "id": self.name,
            "opts": {},
            "setup": self.map_data | setup_fields,
            "steps": self.steps,
            "ended": True,
            "vp": [[row["f"], row["vp"]] for row in rows],
        }


def _power(player: Player) -> Power:
    return player.brainstone, [*player.bowls, player.gaia_tokens]


def record(name: str, factions: list[str], seed: int, taste: dict[str, float]) -> dict[str, Any]:
    """A game of these factions, the first to act first."""
    setup = draw(seed, "base", factions, len(factions))
    # Through JSON, as from a file: nothing is shared between the lines.
    return json.loads(json.dumps(Recorder(setup, name).play(random.Random(seed), taste)))
