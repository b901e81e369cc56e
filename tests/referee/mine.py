"""Build a mine: where, on what terms, at what price, and what it sets off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.referee import federation, leech, scoring
from tests.referee.board import NOT_COLONISABLE, Cell
from tests.referee.decision import Options, Script, ask
from tests.referee.rules import Rules

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player


@dataclass(frozen=True)
class Terms:
    """What an action changes about Build a Mine. One action, one modifier (MIN-17)."""

    extra_range: int = 0
    unlimited_range: bool = False
    free_steps: int = 0
    terraforms: bool = False  # not at an asteroid (MIN-13), in print only with a step (A26)
    mine_is_free: bool = False  # the 1 ore and 2 credits are waived
    asteroid_only: bool = False  # Eclipse: on an asteroid, without a gaiaformer (MIN-12)
    guests: bool = False  # the plain action, at any range (A5)
    ship_token: bool = False  # in print not bound by A26, and opened further (A28)
    price: dict[str, int] = field(default_factory=dict)  # of the action itself


def _free_steps(steps: int, **price: int) -> Terms:
    return Terms(free_steps=steps, terraforms=True, price=price)


PLAIN = Terms(guests=True)
TERMS = {
    "PA_TF1": _free_steps(1, power=3),
    "PA_TF2": _free_steps(2, power=5),
    "RB13": _free_steps(1),
    "TFM_C": _free_steps(1, credits=5),
    "SPACE_GIANTS": _free_steps(2),
    "TK-EARLY-TF1": _free_steps(1),
    "TK-LATE-TF3": _free_steps(3),
    "RB11": Terms(extra_range=3, guests=True),
    "GLEENS": Terms(extra_range=2),
    "TWI_K": Terms(extra_range=3, guests=True, price={"knowledge": 1}),
    "ECL_C": Terms(asteroid_only=True, mine_is_free=True, price={"credits": 6}),
    "LF-TF2-FREE-MINE": Terms(free_steps=2, terraforms=True, mine_is_free=True),
    "SFT_TF3_MINE": Terms(free_steps=3, terraforms=True, mine_is_free=True, ship_token=True),
    "SFT_RANGE_MINE": Terms(unlimited_range=True, mine_is_free=True, ship_token=True),
}


def terms_of(game: Game, name: str) -> Terms:
    """The terms of an action, with the price that is printed on its ship."""
    printed = game.rules.ship_actions.get(name)
    return replace(TERMS[name], price=printed["cost"]) if printed else TERMS[name]


class Site(NamedTuple):
    """A hex where a player might build, before any terms."""

    cell: Cell
    distance: int
    kind: str  # COLOUR (protos too), GAIA, OWN_GAIA (by an own gaiaformer), ASTEROID, GUEST
    steps: int


class Plan(NamedTuple):
    """A mine that can be built and paid."""

    cell: Cell
    kind: str
    steps: int
    ore: int
    credits: int
    qic: int
    gaiaformer: bool  # one is lost for ever


def sites(game: Game, player: Player) -> list[Site]:
    """Every hex that is open to the player for a mine (MIN-07, MIN-19, GAI-03, MIN-20, LAN-01).

    The list is kept while one menu is made, see `look_again`.
    """
    if game.sites_of == player.number:
        return game.sites
    open_sites = []
    board, me = game.board, player.number
    for cell in board.planets:
        planet = board.planet[cell]
        if planet in NOT_COLONISABLE:
            continue
        owner = board.owner[cell]
        if owner is not None:
            if player.is_("LANTIDS") and owner != me and board.guest[cell] is None:
                open_sites.append(Site(cell, player.distance[cell], "GUEST", 0))
            continue
        steps = 0
        former = board.gaiaformer[cell]
        if former is not None:
            if former != me or not _ripe(game, cell):
                continue
            kind = "OWN_GAIA"
        elif planet == "Gaia":
            kind = "GAIA"
        elif planet == "Asteroid":
            kind = "ASTEROID"
        else:
            kind = "COLOUR"
            steps = player.steps_to[planet]
        open_sites.append(Site(cell, player.distance[cell], kind, steps))
    game.sites, game.sites_of = open_sites, me
    return open_sites


def look_again(game: Game) -> None:
    """Something may have changed: the next menu searches its sites again."""
    game.sites_of = None


def _ripe(game: Game, cell: Cell) -> bool:
    """Whether an own gaiaformed planet can be built on yet (MIN-20)."""
    if game.rules.switches.mine_on_instant_gaia_same_round:
        return True
    return game.round > game.board.formed_in[cell]


def plans(game: Game, player: Player, terms: Terms) -> Iterator[Plan]:
    """The mines that the player can build and pay on these terms (MIN-01, MIN-02)."""
    if not player.supply("MINE") or not player.can_pay(terms.price):
        return
    rules = game.rules
    ore_left = player.ore - terms.price.get("ore", 0)
    credits_left = player.credits - terms.price.get("credits", 0)
    qic_left = player.qic - terms.price.get("qic", 0)
    reach = player.range() + terms.extra_range
    per_step = rules.ore_per_step[player.tracks["terraforming"]]
    mine_ore, mine_credits = rules.costs["MINE"]["ore"], rules.costs["MINE"]["credits"]
    if terms.mine_is_free:
        mine_ore = mine_credits = 0
    gaia_cost = player.printed["gaia_planet_cost"]

    for cell, distance, kind, steps in sites(game, player):
        if not aims_at(rules, terms, kind, steps):
            continue
        ore, credits, qic, gaiaformer = mine_ore, mine_credits, 0, False
        if not (terms.unlimited_range or kind == "OWN_GAIA"):
            qic = max(0, -((reach - distance) // rules.range_per_qic))
        if kind == "ASTEROID":
            ore = credits = 0
            if not terms.asteroid_only:
                gaiaformer = True
                if not player.gaiaformers:
                    continue
        elif kind == "GAIA":
            only_ore = not rules.switches.gleens_may_pay_qic
            if "ore" in gaia_cost and (only_ore or ore + gaia_cost["ore"] <= ore_left):
                ore += gaia_cost["ore"]
            else:
                qic += gaia_cost.get("qic", 1)  # Gleens without ore pay 1 QIC (MIN-10)
        elif kind == "COLOUR":
            ore += max(0, steps - terms.free_steps) * per_step
        if ore <= ore_left and credits <= credits_left and qic <= qic_left:
            yield Plan(cell, kind, steps, ore, credits, qic, gaiaformer)


def aims_at(rules: Rules, terms: Terms, kind: str, steps: int) -> bool:
    """Whether an action may take such a planet at all (MIN-13, A5; A26 and A28 in print).

    A26 names actions and tiles: the ship's token of three steps needs none, as A28 has it.
    """
    wider = terms.ship_token and rules.switches.tokens_reach_guests_and_asteroids
    if kind == "GUEST":
        return terms.guests or (wider and terms.unlimited_range)
    if kind == "ASTEROID":
        return wider or not terms.terraforms
    if terms.asteroid_only:
        return False
    needed = terms.terraforms and not terms.ship_token
    return steps > 0 or not (needed and rules.switches.free_steps_must_be_needed)


def possible(game: Game, player: Player, terms: Terms) -> bool:
    return any(True for _ in plans(game, player, terms))


def options(game: Game, player: Player) -> Options:
    """The plain action."""
    for plan in plans(game, player, PLAIN):
        yield f"mine {game.board.text[plan.cell]}", (build, PLAIN, plan)


def choose_site(game: Game, player: Player, terms: Terms, space: str | None = None) -> Script:
    """The hex for an action with a modifier; `space` is the shared action space it takes."""
    menu = picks(game, player, terms)
    function, *arguments = yield from ask(player.number, "TARGET", menu)
    if space:
        game.used.add(space)
    function(game, player, *arguments)


def picks(game: Game, player: Player, terms: Terms) -> dict[str, Any]:
    """The targets on these terms, as a menu."""
    return {
        f"pick {game.board.text[plan.cell]}": (build, terms, plan)
        for plan in plans(game, player, terms)
    }


def free_mine(game: Game, player: Player, terms: Terms) -> Script:
    """A mine that a tile or token gives: build it or say no (TEC-13, FED-19)."""
    look_again(game)
    menu = picks(game, player, terms)
    if menu:
        menu["skip"] = (_decline,)
        function, *arguments = yield from ask(player.number, "FREE_MINE", menu)
        function(game, player, *arguments)


def _decline(game: Game, player: Player) -> None:
    """Nothing happens."""


def build(game: Game, player: Player, terms: Terms, plan: Plan) -> None:
    """Pay for the mine, place it, and let it set off what it does (GEN-15)."""
    player.pay(terms.price)
    player.pay({"ore": plan.ore, "credits": plan.credits, "qic": plan.qic})
    news = scoring.news_of_mine(game, player, plan.cell, guest=plan.kind == "GUEST")
    board = game.board
    if plan.gaiaformer:
        player.gaiaformers -= 1
        player.gaiaformers_lost += 1
    if plan.kind == "OWN_GAIA":
        board.gaiaformer[plan.cell] = None
        player.gaiaformers += 1
    player.structures[plan.cell] = "MINE"
    if plan.kind == "GUEST":
        board.guest[plan.cell] = player.number
        player.guests.add(plan.cell)
    else:
        board.owner[plan.cell] = player.number
    settle(game, player, plan.cell, news, plan.steps)


def settle(game: Game, player: Player, cell: Cell, news: scoring.News, steps: int = 0) -> None:
    """What follows every mine on the map, the Lost Planet too."""
    player.add_range_source(cell)
    federation.absorb(game, player)
    scoring.mine_built(game, player, news, steps)
    leech.announce(game, cell)
