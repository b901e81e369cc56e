"""Before the first round: the players, the starting structures, the boosters; drawing a set-up."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

from tests.referee import automa
from tests.referee.automa_cards import facts
from tests.referee.board import Cell, distance, tiles_laid
from tests.referee.decision import Script, ask
from tests.referee.player import Player
from tests.referee.rules import Rules, ruleset

if TYPE_CHECKING:
    from tests.referee.game import Game

THREE_STEPS, ONE_STEP = 3, 1  # INI-09
TRIES = 400  # ways to turn tiles before others are drawn (A23)


class SetupError(ValueError):
    """The set-up does not belong to this ruleset."""


def make_players(game: Game) -> list[Player]:
    """The players by number, with their starting stocks (SET-14, GEN-08)."""
    factions = game.setup["factions"]
    players: list[Player] = []
    for number, faction in enumerate(factions):
        if "automa" in game.setup and number == automa.SEAT:
            players.append(make_automa(game, faction))
            continue
        player = Player(number, faction, game.rules, game.board)
        player.score("START", game.rules.start["vp"])
        for kind, amount in player.printed["start"].items():
            setattr(player, kind, amount)
        players.append(player)
    drawn = homeless_colours(game.rules, game.setup)
    for player in players:
        if player.is_automa:
            continue
        player.steps_to = steps_to(game.rules, player, drawn.get(player.faction, set()))
        for track in player.printed["start_tracks"]:
            player.tracks[track] = 1
            player.gain(game.rules.level_bonus[track].get("1", {}))
            if track == "gaia":
                player.gaiaformers += 1
        if player.is_("MOWEYDS"):
            player.shuttles.add("TF_MARS")  # INI-08
    return players


def make_automa(game: Game, faction: str) -> automa.Automa:
    """The Automa, without any stock; how many steps it counts to each planet (AUT-05, AUT-20)."""
    player = automa.Automa(faction, game.rules, game.board, game.setup["automa"])
    player.steps_to = steps_to(game.rules, player, set()) | facts()["steps_to"]
    return player


def homeless_colours(rules: Rules, setup: dict[str, Any]) -> dict[str, set[str]]:
    """The three colours that take Tinkeroids and Moweyds 3 steps (INI-09)."""
    in_order = [setup["factions"][number] for number in setup["turn_order"]]
    homes = {rules.factions[f]["home"] for f in in_order} - {None}
    used = set(homes)
    drawn = {}
    for faction in in_order:
        if faction in ("TINKEROIDS", "MOWEYDS"):
            drawn[faction] = set(homes)
            for colour in setup["colour_order"]:
                if len(drawn[faction]) < 3 and colour not in used:
                    drawn[faction].add(colour)
                    used.add(colour)
    return drawn


def steps_to(rules: Rules, player: Player, drawn: set[str]) -> dict[str, int]:
    """Terraforming steps by planet type (MIN-08, MIN-11, MIN-21, MIN-22)."""
    cycle = rules.terraforming_cycle
    home = player.printed["home"]
    steps = {"Proto": rules.proto_steps}
    for colour in cycle:
        if home is not None:
            distance = abs(cycle.index(home) - cycle.index(colour))
            steps[colour] = min(distance, len(cycle) - distance)
        elif player.faction in rules.steps_to_any_colour:
            steps[colour] = rules.steps_to_any_colour[player.faction]
        else:
            steps[colour] = THREE_STEPS if colour in drawn else ONE_STEP
    return steps


# -- starting structures


def starting_structures(game: Game) -> Script:
    """Base factions in a snake, then the Lost Fleet's factions, then the Hive (INI-01)."""
    order = game.in_turn_order()
    base = [p for p in order if p.printed["home"] is not None and not p.is_("HIVES")]
    for player in (*base, *reversed(base)):
        yield from place_start(game, player)
    for player in base:
        if player.is_("XENOS"):
            yield from place_start(game, player)  # INI-03
    for player in order:
        if player.printed["home"] is None:
            yield from place_start(game, player)  # INI-05, INI-06
    for player in order:
        if player.is_("HIVES"):
            yield from place_start(game, player)


def place_start(game: Game, player: Player) -> Script:
    """A structure on an empty planet of the start type; it sets nothing off (INI-04, INI-07)."""
    if isinstance(player, automa.Automa):
        automa.start_mine(game, player)
        return
    board = game.board
    menu = {
        f"pick {board.text[cell]}": cell
        for cell in board.planets
        if board.planet[cell] == player.printed["start_planet"] and board.owner[cell] is None
    }
    cell: Cell = yield from ask(player.number, "START", menu)
    (piece,) = player.printed["start_structures"]
    player.structures[cell] = piece
    board.owner[cell] = player.number
    player.add_range_source(cell)


def choose_boosters(game: Game) -> Script:
    """One of the open boosters each, the last in turn order first (SET-13)."""
    for player in reversed(game.in_turn_order()):
        if isinstance(player, automa.Automa):
            automa.first_booster(game, player)
            continue
        menu = {f"booster {booster}": booster for booster in game.open_boosters}
        player.booster = yield from ask(player.number, "BOOSTER", menu)
        game.open_boosters.remove(player.booster)


# -- drawing


def draw(
    seed: int,
    name: str = "lost_fleet",
    factions: list[str] | None = None,
    players: int = 4,
    sectors: int | None = None,
    solo: bool = False,
) -> dict[str, Any]:
    """A random set-up, in the form of set-up files; `factions` gives the players' factions."""
    rules = ruleset(name, players, sectors, solo)
    rng = random.Random(seed)
    the_map = rules.map
    inner = rng.sample(the_map["inner_tiles"], len(the_map["inner_slots"]))
    outer = [tile for tile in the_map["sector_tiles"] if tile not in inner]
    rng.shuffle(outer)
    deep_numbers = list(the_map["deep_numbers"])
    rng.shuffle(deep_numbers)
    ships, interface = _draw_interface(rules, rng) if rules.ships else ({}, {})
    factions = _draw_factions(rules, rng) if factions is None else factions
    tracks = rules.tracks
    advanced_slots = [*tracks, "extra"] if rules.extra_tile else tracks
    basic = rng.sample(rules.basic_tiles, 9)
    advanced = rng.sample(rules.advanced_tiles, len(advanced_slots))
    ship_tokens = rng.sample(list(rules.ship_tokens), len(rules.ships))
    ship_tiles = rng.sample(rules.ship_tiles, len(rules.ship_tiles))
    # One draw after the other: a seed gives the same set-up as long as nothing is drawn between.
    drawn: dict[str, Any] = {"players": players} if rules.ships and players < 4 else {}
    drawn["sectors"] = _turn_sectors(rules, rng, inner + outer)
    if rules.ships:
        drawn["ships"] = ships
        drawn["interface"] = interface
        drawn["deep"] = _draw_deep(rules, rng, deep_numbers)
    if not rules.map["equal_types_touch"] and not _turn_apart(rules, rng, drawn):
        return draw(rng.randrange(2**32), name, factions, players, sectors, solo)  # other tiles
    drawn["factions"] = factions
    drawn["turn_order"] = rng.sample(range(players), players)
    drawn["basic_tiles"] = dict(zip([*tracks, "free_1", "free_2", "free_3"], basic, strict=True))
    drawn["advanced_tiles"] = dict(zip(advanced_slots, advanced, strict=True))
    if rules.extra_tile:
        drawn["extra_condition"] = _draw_condition(rules, rng)
    drawn["tf5_token"] = rng.choice(list(rules.base_tokens))
    if rules.ships:
        drawn["ship_tokens"] = dict(zip(rules.ships, ship_tokens, strict=True))
        drawn["ship_tiles"] = dict(zip(tile_places(rules), ship_tiles, strict=False))
        if rules.artifacts:
            drawn["artifacts"] = rng.sample(rules.artifacts, players)  # PLA-11
    drawn["boosters"] = rng.sample(list(rules.boosters), rules.boosters_in_play)
    drawn["round_tiles"] = rng.sample(list(rules.round_tiles), 6)
    drawn["final_missions"] = rng.sample(rules.final_missions, 2)
    if rules.ships:
        drawn["economy_side"] = rng.choice("AB")
        drawn["colour_order"] = rng.sample(rules.terraforming_cycle, 7)
    if not enough_asteroids(rules, drawn):
        drawn["deep"] = turn_over(drawn["deep"], "DS6A", "DS6B")
        if touching(rules, drawn):
            return draw(rng.randrange(2**32), name, factions, players, sectors, solo)
    return drawn


def _draw_factions(rules: Rules, rng: random.Random) -> list[str]:
    """A side of a board for each player (SET-11)."""
    boards: dict[int, list[str]] = {}
    for faction, printed in rules.factions.items():
        boards.setdefault(printed["board"], []).append(faction)
    return [rng.choice(sides) for sides in rng.sample(list(boards.values()), rules.players)]


def _turn_sectors(rules: Rules, rng: random.Random, tiles: list[str]) -> list[dict[str, Any]]:
    """Each sector tile turned at random."""
    turns = [rng.choice(range(6)) for _ in tiles]
    return [{"tile": t, "rotation": k} for t, k in zip(tiles, turns, strict=True)]


def _draw_deep(rules: Rules, rng: random.Random, numbers: list[int]) -> list[dict[str, Any]]:
    """A side and a rotation for each deep sector tile."""
    if not rules.map["deep_slots"]:
        return []
    return [{"tile": f"DS{n}{rng.choice('AB')}", "rotation": rng.randrange(3)} for n in numbers]


def _turn_apart(rules: Rules, rng: random.Random, drawn: dict[str, Any]) -> bool:
    """Turn tiles until no equal types touch, slot by slot; one that fits nowhere makes the
    slot before it try another way. False where these tiles do not fit, or where that is not found
    out after `TRIES` ways (MAP-06, A23).
    """
    laid: list[dict[str, Any]] = [*drawn["sectors"], *drawn.get("deep", ())]
    sectors = len(drawn["sectors"])

    tries = 0

    def fits(slots: int) -> bool:
        nonlocal tries
        if slots == len(laid):
            return True
        rotations = list(range(6 if slots < sectors else 3))
        rng.shuffle(rotations)
        for rotation in rotations:
            if (tries := tries + 1) > TRIES:
                return False
            laid[slots]["rotation"] = rotation
            so_far = {"sectors": laid[: slots + 1][:sectors], "deep": laid[sectors : slots + 1]}
            if not touching(rules, so_far) and fits(slots + 1):
                return True
        return False

    return fits(0)


def touching(rules: Rules, setup: dict[str, Any]) -> list[str]:
    """Pairs of planets of one type that touch across tiles, Gaia and Transdim too (A23).

    Every tile counts: sectors, deep sectors, interspace. Tiles may be missing from `setup`.
    """
    tile_of: dict[tuple[int, int], int] = {}
    lie: dict[tuple[int, int], str] = {}
    for number, tile in enumerate(tiles_laid(rules, setup)):
        lie |= tile
        tile_of |= dict.fromkeys(tile, number)
    pairs = []
    for (q, r), content in lie.items():
        if content in ("Empty", "Ship"):
            continue
        for near in ((q + 1, r), (q, r + 1), (q + 1, r - 1)):
            if lie.get(near) == content and tile_of[near] != tile_of[q, r]:
                pairs.append(f"{content} at {q},{r} and {near[0]},{near[1]}")
    return pairs


def rules_of(setup: dict[str, Any], name: str) -> Rules:
    """The rules that a set-up is played by: as many players as factions, as many tiles as laid.

    Raises:
        SetupError: the rules called `name` are not for that number of players or tiles.
    """
    try:
        return ruleset(name, len(setup["factions"]), len(setup["sectors"]), "automa" in setup)
    except ValueError as error:
        raise SetupError(str(error)) from error


def check(rules: Rules, setup: dict[str, Any]) -> None:
    """Refuse a set-up that these rules do not have (A23).

    Raises:
        SetupError: the tiles, the order of the players or the number of boosters are not those of
            that number of players, or planets of one type touch across tiles where they must not.
    """
    if setup.get("players", rules.players) not in (rules.players, 1):
        raise SetupError(f"{rules.players} factions, but {setup['players']} players")
    laid, tiles = [laid["tile"] for laid in setup["sectors"]], list(rules.map["sector_tiles"])
    if sorted(laid) != sorted(tiles):
        raise SetupError(f"the tiles of {rules.players} players are {tiles}, not {laid}")
    if sorted(setup["turn_order"]) != list(range(rules.players)):
        raise SetupError(f"{rules.players} players sit here, not {setup['turn_order']}")
    if len(setup["boosters"]) != rules.boosters_in_play:
        raise SetupError(f"{rules.boosters_in_play} boosters are in play, not {setup['boosters']}")
    if rules.ships:
        check_fleet(rules, setup)
    if not rules.map["equal_types_touch"] and (pairs := touching(rules, setup)):
        raise SetupError(f"equal types touch across tiles: {'; '.join(pairs)}")


def check_fleet(rules: Rules, setup: dict[str, Any]) -> None:
    """Refuse pieces of The Lost Fleet for another number of players (PLA-08 to PLA-11).

    Raises:
        SetupError: a tile in the middle that cannot be there; deep tiles, ships, contents of
            holes, tokens, tiles or artifacts of another table; too few asteroids.
    """
    the_map = rules.map
    middle = [setup["sectors"][slot]["tile"] for slot in the_map["inner_slots"]]
    if not set(middle) <= set(the_map["inner_tiles"]):
        raise SetupError(f"{the_map['inner_tiles']} can be in the middle, not {middle}")
    numbers = sorted(int(laid["tile"][2:-1]) for laid in setup["deep"])
    if numbers != the_map["deep_numbers"]:
        raise SetupError(f"the deep tiles are {the_map['deep_numbers']}, not {numbers}")
    check_holes(rules, setup)
    for key, places in [("ship_tokens", rules.ships), ("ship_tiles", tile_places(rules))]:
        if setup[key].keys() != set(places):
            raise SetupError(f"{key} lie at {places}, not {list(setup[key])}")
    artifacts = setup.get("artifacts", ())
    if len(artifacts) != (rules.players if rules.artifacts else 0):  # none in a solo game (AUT-40)
        raise SetupError(f"{rules.players} artifacts are in play, not {artifacts}")
    if setup["extra_condition"] not in list(rules.extra_conditions):
        raise SetupError(f"the extra tile has no condition {setup['extra_condition']!r}")
    if not enough_asteroids(rules, setup):
        raise SetupError(f"the mission for asteroids asks for {rules.fewest_asteroids} of them")


def check_holes(rules: Rules, setup: dict[str, Any]) -> None:
    """Refuse ships and contents of the single holes that the map does not have (MAP-07, PLA-10).

    Raises:
        SetupError: other ships, other holes, other contents, or ships too near to each other.
    """
    ships, interface = setup["ships"], setup["interface"]
    if ships.keys() != set(rules.ships):
        raise SetupError(f"the ships are {rules.ships}, not {list(ships)}")
    holes = sorted(f"{q},{r}" for q, r in rules.map["interface_cells"])
    if sorted([*ships.values(), *interface]) != holes:
        raise SetupError(f"the single holes are {holes}, not {[*ships.values(), *interface]}")
    if sorted(interface.values()) != sorted(rules.map["interface_contents"]):
        raise SetupError(f"no {rules.players} players have {sorted(interface.values())} in holes")
    places = [tuple(map(int, text.split(","))) for text in ships.values()]
    near = rules.map["ship_min_distance"]
    if any(distance((a, b), (c, d)) < near for (a, b), (c, d) in itertools.combinations(places, 2)):
        raise SetupError(f"ships are nearer than {near} cells: {ships}")


def tile_places(rules: Rules) -> list[str]:
    """The ships with a place for a ship tile (SET-21, PLA-09)."""
    return [ship for ship in ("REBELLION", "TF_MARS", "ECLIPSE") if ship in rules.ships]


def _draw_condition(rules: Rules, rng: random.Random) -> str:
    """The condition of the extra tile; with two it is A (SET-04, PLA-09)."""
    conditions: str = rules.extra_conditions
    return rng.choice(conditions) if len(conditions) > 1 else conditions


def enough_asteroids(rules: Rules, setup: dict[str, Any]) -> bool:
    """Whether the map has the asteroids that the mission for asteroids asks for (PLA-10)."""
    if "ASTEROID_BUILDINGS" not in setup["final_missions"]:
        return True
    contents = [content for tile in tiles_laid(rules, setup) for content in tile.values()]
    return contents.count("Asteroid") >= rules.fewest_asteroids


def turn_over(deep: list[dict[str, Any]], side: str, other: str) -> list[dict[str, Any]]:
    """The deep tiles with one turned over, in its place and rotation (PLA-10)."""
    return [laid | {"tile": other} if laid["tile"] == side else laid for laid in deep]


def _draw_interface(rules: Rules, rng: random.Random) -> tuple[dict[str, str], dict[str, str]]:
    """Ships on hexes at a sufficient distance, the rest on the others (MAP-07)."""
    hexes = [tuple(hex_) for hex_ in rules.map["interface_cells"]]
    far = rules.map["ship_min_distance"]
    spread = [
        places
        for places in itertools.combinations(hexes, len(rules.ships))
        if all(distance(a, b) >= far for a, b in itertools.combinations(places, 2))
    ]
    chosen = list(rng.choice(spread))
    rng.shuffle(chosen)
    contents = list(rules.map["interface_contents"])
    contents = rng.sample(contents, len(contents))
    rest = [hex_ for hex_ in hexes if hex_ not in chosen]
    ships = {s: f"{q},{r}" for s, (q, r) in zip(rules.ships, chosen, strict=True)}
    return ships, {f"{q},{r}": c for c, (q, r) in zip(contents, rest, strict=True)}
