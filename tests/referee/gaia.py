"""Gaia projects, instant gaiaforming, and the Gaia phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.referee import leech, power, tech
from tests.referee.board import Cell
from tests.referee.decision import Options, Script, ask, do

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player

# GAI-08: what the Terrans' returning tokens buy, and for how many.
TERRAN_PRICES = {"P4_to_Q": (4, "qic"), "P3_to_O": (3, "ore"), "P4_to_K": (4, "knowledge")}
ITARS_TILE_TOKENS = 4  # GAI-09


def transdims(game: Game, player: Player, extra_range: int, qic: int) -> list[Cell]:
    """Transdim planets without a gaiaformer, in reach with this many QIC (GPJ-03)."""
    board = game.board
    return [
        cell
        for cell in board.planets
        if board.planet[cell] == "Transdim"
        and board.gaiaformer[cell] is None
        and player.range_qic(cell, extra_range) <= qic
    ]


def project_cost(game: Game, player: Player) -> int | None:
    """Tokens for a project; none can be started at level 0 (GPJ-01)."""
    cost: int | None = game.rules.project_cost[player.tracks["gaia"]]
    return cost


def projects(
    game: Game,
    player: Player,
    verb: str = "project",
    extra_range: int = 0,
    price: dict[str, int] | None = None,
) -> Options:
    """Where a project can be started."""
    price = price or {}
    cost = project_cost(game, player)
    if cost is None or not player.gaiaformers or power.tokens(player) < cost:
        return
    if not player.can_pay(price):
        return
    for cell in transdims(game, player, extra_range, player.qic):
        yield f"{verb} {game.board.text[cell]}", (start, cell, extra_range, price)


def start(game: Game, player: Player, cell: Cell, extra_range: int, price: dict[str, int]) -> None:
    """Set tokens aside and place a gaiaformer (GPJ-01, GPJ-02)."""
    cost = project_cost(game, player)
    assert cost is not None
    player.pay(price)
    player.pay({"qic": player.range_qic(cell, extra_range)})
    power.to_gaia_area(player, cost)
    player.gaiaformers -= 1
    game.board.gaiaformer[cell] = player.number


def instant_targets(game: Game, player: Player) -> dict[str, Any]:
    """Instant gaiaforming: RB6 and TF Mars (GPJ-04)."""
    if not player.gaiaformers:
        return {}
    return {
        f"pick {game.board.text[cell]}": (form_at_once, cell)
        for cell in transdims(game, player, 0, player.qic)
    }


def form_at_once(game: Game, player: Player, cell: Cell) -> None:
    """The planet is Gaia at once; the gaiaformer stays until the mine is built."""
    player.pay({"qic": player.range_qic(cell)})
    player.gaiaformers -= 1
    game.board.gaiaformer[cell] = player.number
    game.board.planet[cell] = "Gaia"
    game.board.formed_in[cell] = game.round


# -- the Gaia phase (GAI-06)


def phase(game: Game) -> Script:
    """Planets convert, tokens return; then the Terrans choose, last the Itars.

    What needs no decision comes to all players at once (GEN-06).
    """
    board = game.board
    for cell in board.planets:
        if board.planet[cell] == "Transdim" and board.gaiaformer[cell] is not None:
            board.planet[cell] = "Gaia"
    order = game.humans()
    points = {p.number: take_back(p) for p in order if not p.has_pi("ITARS")}
    for player in order:
        if player.has_pi("TERRANS"):
            yield from terrans(player, points[player.number])
    for player in order:
        if player.has_pi("ITARS"):
            yield from itars(game, player)


def take_back(player: Player) -> int:
    """Tokens return to bowl I, the Terrans' to bowl II (GAI-05, GAI-07); how many did."""
    tokens, player.gaia_tokens = player.gaia_tokens, 0
    bowl = power.BOWL_II if player.is_("TERRANS") else power.BOWL_I
    player.bowls[bowl] += tokens
    if player.brainstone == power.GAIA_AREA:
        player.brainstone = power.BOWL_I
    player.gaiaformers += player.gaiaformers_in_gaia_area
    player.gaiaformers_in_gaia_area = 0
    return tokens


def terrans(player: Player, points: int) -> Script:
    """The returning tokens buy resources; the rest of the points become credits (GAI-08)."""
    while True:
        menu: dict[str, str | None] = {
            f"free {name}": name
            for name, (cost, kind) in TERRAN_PRICES.items()
            if points >= cost and not player.full(kind)
        }
        chosen = None
        if menu:
            menu["skip"] = None
            chosen = yield from ask(player.number, "TERRANS", menu)
        if chosen is None:
            player.gain({"credits": points})
            return
        cost, kind = TERRAN_PRICES[chosen]
        points -= cost
        player.gain({kind: 1})


def itars(game: Game, player: Player) -> Script:
    """With the PI, 4 tokens of the Gaia area buy a tech tile, again and again (GAI-09)."""
    while player.has_pi("ITARS") and player.gaia_tokens >= ITARS_TILE_TOKENS:
        menu: dict[str, Any] = dict(tech.choices(game, player))
        if not menu:
            break
        menu["skip"] = None
        effect = yield from ask(player.number, "ITARS", menu)
        if effect is None:
            break
        player.gaia_tokens -= ITARS_TILE_TOKENS
        yield from do(effect, game, player)
        yield from leech.resolve(game, player)  # A13
    take_back(player)
