"""The rules of the Automa misread in the referee: does a duel notice?

Each misreading replaces one function or one printed fact. The misread referee follows a solo game
of the referee as it is; they are compared after every decision.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from tests.referee import automa, automa_actions, leech, passing, solo
from tests.referee.automa_cards import facts
from tests.referee.game import Game
from tests.referee.player import Player
from tests.referee.policies import POLICIES, Policy, Rare, policy_name

AC = automa_actions


@dataclass(frozen=True)
class Misreading:
    """One rule misread, and the solo games in which that should show."""

    name: str
    rule: str
    wrong: str  # what the misread referee does
    target: tuple[Any, str]  # a module, class or table, and the name of what is replaced
    replacement: Any
    games: dict[str, Any] = field(default_factory=dict)  # what `solo.draw` is given
    seed: int = 0  # of its first game
    changes: dict[str, Any] = field(default_factory=dict)  # of the set-ups
    taste: dict[str, float] = field(default_factory=dict)  # what the human likes: policies.Rare

    @property
    def ruleset(self) -> str:
        """The name of the rules that its games are played by."""
        return str(self.games.get("name", solo.RULESET))

    def draw(self, seed: int) -> dict[str, Any]:
        """A set-up in which the misreading can show."""
        return solo.draw(seed, **self.games) | self.changes

    def policy(self, seed: int) -> Policy:
        """How the humans of a game choose."""
        return Rare(self.taste) if self.taste else POLICIES[policy_name(seed)]()

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Play the misreading inside this block."""
        place, name = self.target
        if isinstance(place, dict):
            with mock.patch.dict(place, {name: self.replacement}):
                yield
        else:
            with mock.patch.object(place, name, self.replacement):
                yield


# -- functions of the referee, misread

numbered, sites, best = AC.numbered, AC.sites, AC.best
for_final_tile, upgrade, valid = AC.for_final_tile, AC.upgrade, AC.is_valid_track
advance, build_mine, turn_cards = AC.advance, AC.build_mine, automa.turn_cards
pass_with_booster, score, closest = passing.pass_, automa.Automa.score, AC.distance_to_human


def rows_from_the_left(game: Game) -> list[int]:
    """AUT-16: columns of the first axis, as the hexes are listed."""
    return list(range(len(game.board.geometry.cells)))


def count_stops_at_the_end(options: list[str], support: Any) -> str:
    """AUT-17: past the end the last option is taken."""
    in_order = options if support["from"] == "leftmost" else options[::-1]
    return in_order[min(support["number"], len(in_order)) - 1]


def starts_beyond_the_first(options: list[str], support: Any) -> str:
    """AUT-17: the count begins with a step."""
    return numbered(options, support | {"number": support["number"] + 1})


def to_structures_of_both(game: Game, cell: int) -> int:
    """AUT-18: "your planets" are those of anybody."""
    owned = [c for c, owner in enumerate(game.board.owner) if owner is not None]
    return min(game.board.geometry.distance[cell][c] for c in owned)


def no_guests(game: Game, cell: int) -> int:
    """AUT-18: guest mines are on planets of the Automa."""
    (human,) = game.humans()
    own = human.structures.keys() - human.guests
    return min(game.board.geometry.distance[cell][c] for c in own)


def range_of_research_too(game: Game, player: automa.Automa, reach: int) -> list[int]:
    """AUT-19: Navigation adds to the range of a card."""
    return sites(game, player, reach + game.rules.navigation_range[player.tracks["navigation"]] - 1)


def no_transdim(game: Game, player: automa.Automa, reach: int) -> list[int]:
    """AUT-19: a Transdim planet needs a Gaia project first."""
    return [c for c in sites(game, player, reach) if game.board.planet[c] != "Transdim"]


def gaiaformers_are_no_structures(game: Game, player: automa.Automa, reach: int) -> list[int]:
    """OPEN-12: a planet with a gaiaformer is empty."""
    formers = game.board.gaiaformer
    with mock.patch.object(game.board, "gaiaformer", [None] * len(formers)):
        return sites(game, player, reach)


def transdim_is_a_type(game: Game, cell: int) -> str:
    """AUT-20: Transdim is no Gaia planet."""
    return game.board.planet[cell]


def tiles_swapped(game: Game, player: automa.Automa, cells: list[int], support: Any) -> list[int]:
    """AUT-20: upper and lower final tile."""
    other = {"upper": "lower", "lower": "upper", None: None}[support["final_tile"]]
    return for_final_tile(game, player, cells, support | {"final_tile": other})


def no_final_tile(game: Game, player: automa.Automa, cells: list[int], support: Any) -> list[int]:
    """AUT-20: without the final tiles."""
    return cells


def nothing_instead(game: Game, player: automa.Automa, *rest: Any) -> None:
    """AUT-22: without a planet nothing happens."""
    if AC.choose_site(game, player, *rest, *([None] if len(rest) == 2 else [])) is not None:
        build_mine(game, player, *rest)


def no_satellite(game: Game, player: automa.Automa, *rest: Any) -> None:
    """AUT-21: each mine brings a satellite."""
    before = player.satellites_counted
    build_mine(game, player, *rest)
    player.satellites_counted = before + 1


def farthest_upgrade(game: Game, player: automa.Automa, support: Any, first: Any = None) -> bool:
    """AUT-23: direction alone decides which structure is upgraded."""
    with mock.patch.object(AC, "best", lambda cells, value: cells):
        return upgrade(game, player, support, first)


def a_tile_is_passed_over(game: Game, player: automa.Automa, track: str) -> None:
    """AUT-24: an advanced tile does not stop it below level 5."""
    if player.tracks[track] == 4 and all(p.tracks[track] < 5 for p in game.players):
        player.tracks[track] = 5
    else:
        advance(game, player, track)


def tile_and_level(game: Game, player: automa.Automa, track: str) -> None:
    """AUT-24: it takes the tile and goes up as well."""
    had_tile = player.tracks[track] == 4 and track in game.advanced
    advance(game, player, track)
    if had_tile:
        player.tracks[track] += all(p.tracks[track] < 5 for p in game.players)


def a_full_track_is_skipped(game: Game, player: automa.Automa, track: str) -> bool:
    """OPEN-03: a track without its tile whose level 5 is taken, at any level."""
    full = any(p.tracks[track] == 5 for p in game.players)
    return valid(game, player, track) and not (full and track not in game.advanced)


def random_is_highest(game: Game, player: automa.Automa, support: Any) -> None:
    """AUT-24: both kinds of research alike."""
    AC.research_random(game, player, support)


def two_cards_each_turn(player: automa.Automa) -> Any:
    """AUT-12: the support card is new each turn."""
    if 0 < player.cards_turned < len(player.deck) - 1:
        player.cards_turned += 1
    return turn_cards(player)


def passes_among(cards: int, red: bool = True) -> Any:
    """AUT-13: another number of cards at the bottom, or the green ones."""

    def passes(player: automa.Automa, action: Any) -> bool:
        return bool(action["red"]) == red and len(player.deck) - player.cards_turned < cards

    return passes


def cards_vp_too(game: Game, player: automa.Automa, support: Any) -> None:
    """AUT-28: the card's VP at a pass."""
    player.score(automa.VP_SOURCE, support["vp"])
    pass_automa(game, player, support)


def old_booster_in_the_gap(game: Game, player: automa.Automa, support: Any) -> None:
    """AUT-28: its booster takes the place of the one that it takes."""
    place, row = automa.PLACES.index(support["booster"]), list(game.open_boosters)
    old = player.booster
    pass_automa(game, player, support)
    if game.round < game.last_round:
        game.open_boosters[:] = [old if i == place else b for i, b in enumerate(row)]


def the_humans_booster_in_the_gap(game: Game, player: Player, booster: str | None) -> None:
    """OPEN-18: the human's booster takes the place of the one that he takes."""
    row, old = list(game.open_boosters), player.booster
    pass_with_booster(game, player, booster)
    if booster is not None:
        game.open_boosters[:] = [old if b == booster else b for b in row]


def always_the_right_number(game: Game) -> int:
    """AUT-28: the right number of a round tile in every round."""
    return int(facts()["round_tile_vp"][game.round_tile()][1])


def no_extra_at_the_end(self: automa.Automa, source: str, vp: int) -> None:
    """OPEN-09: no extra VP at the end."""
    at_the_end = source in ("FINAL_1", "FINAL_2", "RESEARCH_END") and vp > 0
    score(self, source, vp - self.level["extra_vp"] if at_the_end else vp)


def no_power_from_it(game: Game, builder: Player) -> Any:
    """AUT-30: the Automa's structures bring the human no power."""
    if builder.is_automa:
        game.events.clear()
        return iter(())
    return resolve(game, builder)


pass_automa, resolve = automa.pass_, leech.resolve
F = facts()["factions"]


def _part(faction: str, number: int, **changes: Any) -> list[dict[str, Any]]:
    """The action of a faction card with one part changed."""
    parts = [dict(part) for part in F[faction]["action"]]
    parts[number] |= changes
    return parts


def _of(faction: str) -> dict[str, str]:
    return {"faction": faction}


MISREADINGS = [
    Misreading("columns", "AUT-16", "reads columns", (AC, "reading_order"), rows_from_the_left),
    Misreading("count_stops", "AUT-17", "stops at the end", (AC, "numbered"),
               count_stops_at_the_end),
    Misreading("count_from_one", "AUT-17", "counts one further", (AC, "numbered"),
               starts_beyond_the_first),
    Misreading("both_structures", "AUT-18", "measures to structures of both",
               (AC, "distance_to_human"), to_structures_of_both),
    Misreading("guests", "AUT-18", "leaves out guest mines", (AC, "distance_to_human"), no_guests,
               {"human": "LANTIDS"}),
    Misreading("navigation", "AUT-19", "adds the range of research", (AC, "sites"),
               range_of_research_too),
    Misreading("transdim", "AUT-19", "never takes a Transdim", (AC, "sites"), no_transdim),
    Misreading("gaiaformer", "AUT-19", "takes a planet with a gaiaformer", (AC, "sites"),
               gaiaformers_are_no_structures, {"human": "TERRANS"}),
    Misreading("transdim_type", "AUT-20", "takes Transdim for a type", (AC, "planet_type"),
               transdim_is_a_type),
    Misreading("final_tiles", "AUT-20", "swaps the final tiles", (AC, "for_final_tile"),
               tiles_swapped),
    Misreading("no_final_tile", "AUT-20", "ignores the final tiles", (AC, "for_final_tile"),
               no_final_tile),
    Misreading("prefer", "AUT-20", "ignores the faction card", (AC, "preferred"),
               lambda game, cells, prefer: cells, _of("TERRANS")),
    Misreading("gaia_steps", "AUT-20", "counts no step to Gaia", (facts()["steps_to"], "Gaia"), 0),
    Misreading("transdim_steps", "AUT-20", "counts one step to Transdim",
               (facts()["steps_to"], "Transdim"), 1),
    Misreading("satellites", "AUT-21", "places a satellite at each mine", (AC, "build_mine"),
               no_satellite),
    Misreading("no_upgrade_instead", "AUT-22", "does nothing without a planet",
               (AC, "build_mine"), nothing_instead, _of("XENOS") | {"level": "ultoma"}),
    Misreading("upgrade_order", "AUT-23", "prefers mines to trading stations",
               (facts(), "upgrades"), [["MINE", "TS"], ["TS", "PI"], ["RL", "AC"], ["TS", "RL"]]),
    Misreading("upgrade_place", "AUT-23", "ignores distance", (AC, "upgrade"), farthest_upgrade),
    Misreading("tile_passed_over", "AUT-24", "leaves advanced tiles", (AC, "advance"),
               a_tile_is_passed_over),
    Misreading("tile_and_level", "AUT-24", "takes tile and level", (AC, "advance"),
               tile_and_level),
    Misreading("full_track", "AUT-24", "skips a full track", (AC, "is_valid_track"),
               a_full_track_is_skipped, _of("FIRAKS") | {"level": "ultoma"}, seed=110),
    Misreading("highest", "AUT-24", "researches at random", (AC, "research_highest"),
               random_is_highest),
    Misreading("spaces", "AUT-25", "orders the spaces by cost", (facts(), "action_spaces"),
               ["PA_2PT", "PA_TF1", "PA_2K", "PA_7C", "PA_2O", "PA_TF2", "PA_3K",
                "QIC_TYPES", "QIC_TOKEN", "QIC_TECH"]),
    Misreading("taklons", "AUT-26", "gives the Taklons range 2", (F["TAKLONS"], "action"),
               _part("TAKLONS", 0, range=2), _of("TAKLONS")),
    Misreading("terrans", "AUT-26", "advances the Terrans at random", (F["TERRANS"], "action"),
               [{"do": "research_random"}, F["TERRANS"]["action"][1]], _of("TERRANS")),
    Misreading("xenos", "AUT-26", "gives the Xenos range 4", (F["XENOS"], "action"),
               _part("XENOS", 0, range=4), _of("XENOS")),
    Misreading("hadsch_hallas", "AUT-26", "leaves the 3 VP of a trading station",
               (F["HADSCH_HALLAS"], "upgrade_vp"), {}, _of("HADSCH_HALLAS")),
    Misreading("hadsch_hallas_mine", "AUT-26", "builds no mine where no upgrade is possible",
               (F["HADSCH_HALLAS"], "action"), [{"do": "upgrade"}], _of("HADSCH_HALLAS")),
    Misreading("geodens", "AUT-26", "leaves the 2 VP of a new type",
               (F["GEODENS"], "new_type_vp"), 0, _of("GEODENS")),
    Misreading("firaks_rank", "AUT-26", "never downgrades", (F["FIRAKS"], "action"),
               [{"do": "upgrade"}], _of("FIRAKS")),
    Misreading("firaks_research", "AUT-26", "leaves the research after a lab",
               (F["FIRAKS"], "research_after"), None, _of("FIRAKS")),
    Misreading("itars", "AUT-26", "covers one space", (F["ITARS"], "action"),
               [{"do": "power_qic"}], _of("ITARS")),
    Misreading("faction_vp", "AUT-14", "gives the action card's VP", (F["ITARS"], "vp"), 0,
               _of("ITARS")),
    Misreading("xenos_once", "AUT-27", "resolves a power card once",
               (F["XENOS"], "power_card_times"), 1, _of("XENOS")),
    Misreading("new_support", "AUT-12", "turns two cards each turn", (automa, "turn_cards"),
               two_cards_each_turn),
    Misreading("bottom_four", "AUT-13", "passes among four", (automa, "passes_with"),
               passes_among(4)),
    Misreading("bottom_two", "AUT-13", "passes among two", (automa, "passes_with"),
               passes_among(2)),
    Misreading("green", "AUT-13", "passes with green", (automa, "passes_with"),
               passes_among(3, red=False)),
    Misreading("pass_card_vp", "AUT-28", "adds the card's VP", (automa, "pass_"), cards_vp_too),
    Misreading("booster_gap", "AUT-28", "puts its booster in the gap", (automa, "pass_"),
               old_booster_in_the_gap),
    Misreading("human_gap", "AUT-29", "puts the human's booster in the gap", (passing, "pass_"),
               the_humans_booster_in_the_gap),
    Misreading("round_tile", "AUT-28", "always takes the right number",
               (automa, "round_tile_vp"), always_the_right_number),
    Misreading("extra_at_end", "AUT-11", "no extra VP at the end", (automa.Automa, "score"),
               no_extra_at_the_end, {"level": "alptrauma"}),
    Misreading("leech", "AUT-30", "offers no power", (leech, "resolve"), no_power_from_it),
    Misreading("start_vp", "AUT-10", "starts with 10 VP",
               (facts()["levels"]["automalein"], "start_vp"), 10, {"level": "automalein"}),
    Misreading("start_track", "AUT-05", "starts on level 0", (F["XENOS"], "start_track"), None,
               _of("XENOS")),
    Misreading("federation_tokens", "AUT-03", "has three federation tokens of a kind",
               (facts(), "token_copies"), 3),
]  # fmt: skip


def view(game: Game) -> list[Any]:
    """What a duel compares of the players and the table."""
    players = [
        [p.vp_source, p.structures, p.tracks, p.booster, p.satellites_counted, p.shuttles,
         p.ore, p.knowledge, p.credits, p.qic, p.bowls]
        for p in game.players
    ]  # fmt: skip
    turns = [p.turns for p in game.players if isinstance(p, automa.Automa)]
    return [
        players, turns, game.open_boosters, sorted(game.used), game.advanced, game.turn_order,
        game.token_supply, game.board.planet,
    ]  # fmt: skip


def first_difference(misreading: Misreading, seed: int) -> int | None:
    """The decision after which the misread referee differs; None if it never does."""
    setup, choose = misreading.draw(seed), misreading.policy(seed)
    rng, decisions = random.Random(seed), 0
    game = Game(setup, misreading.ruleset)
    with misreading.applied():
        misread = Game(setup, misreading.ruleset)
    while view(game) == view(misread) and game.legal_actions() == misread.legal_actions():
        if game.over:
            return None
        text = choose(rng, sorted(game.legal_actions()), game)
        game.apply(text)
        with misreading.applied():
            misread.apply(text)
        decisions += 1
    return decisions
