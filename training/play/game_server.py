"""The games of a server, the thread that plays for the agents, and the saved records."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gaia_jax import replay
from gaia_jax.replay import Record, RecordError
from gaia_jax.ruleset import RULESETS
from gaia_jax.setup.setup_json import SEATS, players_of
from gaia_jax.state import Setup

from ..agents.search import split_name
from ..analysis import ADVISER
from . import evaluation, lookahead, settings, setups
from .agent_pool import POLICY, SEARCH, AgentPool, AgentProgram
from .compiled_rules import Rules
from .game import HUMAN, Game, Refused, requested_actions, whole_number
from .hints import Advice, refusal
from .puzzle_book import PuzzleBook
from .saves import SHIPPED_MARK, Saves, about, check, unfinished_name
from .setup_advice import SetupAdvice

MAX_GAMES = 16


class GameServer:
    """The games. Every method may be called from any thread."""

    def __init__(self, agents: AgentPool, saves: Path, max_games: int = MAX_GAMES):
        """
        Args:
            agents: the agents on offer.
            saves: folder of the saved records.
            max_games: one more closes the least recently used.
        """
        self.agents, self.saves, self.max_games = agents, Saves(saves), max_games
        self.rules = {id: Rules(id) for id in RULESETS}
        self._fewer: dict[tuple[str, int], Rules] = {}
        self._compiled: set[str] = set()
        self.games: dict[str, Game] = {}
        self.settings: dict[str, settings.Settings] = {}
        self.advice, self.setup_advice = Advice(), SetupAdvice()
        self.puzzles = PuzzleBook()
        self.lock = threading.RLock()
        self.wake = threading.Condition(self.lock)
        self._touched: dict[str, float] = {}
        agents.on_change = self.stir
        threading.Thread(target=self._work, name="agents", daemon=True).start()

    def stir(self) -> None:
        """Wake the agents' thread, and the requests that wait for changes."""
        with self.wake:
            for game in self.games.values():
                # Also at a person's decision: the page shows the compilations.
                game.changed()
            self.wake.notify_all()

    def compile(self, rules: Rules) -> None:
        """Compile `step`, then the prices of actions, once, in a thread."""
        with self.lock:
            if rules.env.ruleset.name in self._compiled:
                return
            self._compiled.add(rules.env.ruleset.name)

        def run() -> None:
            try:
                rules.prepare()
                self.stir()
                rules.prepare_prices()
            finally:
                self.stir()

        threading.Thread(target=run, name="compile rules", daemon=True).start()

    def open(self, form: Mapping[str, Any]) -> Game:
        """A new game: `ruleset`, `seats`, and `seed`, `setup` or `record`, `factions`, `settings`.

        A solo game has one seat, and `automa`, `automa_faction` as of `setups.deal`.

        Raises:
            Refused: one of them is invalid; the message is one line.
        """
        form = self._rematch_form(form)
        record_json = form.get("record")
        record = None if record_json is None else self._record(record_json)
        seats = self._seats(form, record)
        rules = self.rules_for(record.ruleset if record else form.get("ruleset"), len(seats))
        setup = check(record, self.rules_for)[1] if record else setups.deal(form, rules)
        for seat in seats:
            self.seat(seat, rules)
        left = settings.Settings.read(form.get("settings", {}))
        name = record_json.removeprefix(SHIPPED_MARK) if isinstance(record_json, str) else ""
        self.compile(rules)
        game = Game(secrets.token_hex(6), rules, setup, seats, name)
        if record:
            rules.prepare()
            self._walk(game, record)
        self.agents.hurry(sorted(set(seats) - {HUMAN}), rules)
        with self.wake:
            self.settings[game.id] = left
            if len(self.games) >= self.max_games:
                oldest = min(self._touched, key=lambda key: self._touched[key])
                del self.games[oldest], self._touched[oldest], self.settings[oldest]
                self.advice.forget(oldest)
            self.games[game.id] = game
            self._touched[game.id] = time.monotonic()
            self.wake.notify_all()
        return game

    def preview(self, form: Mapping[str, Any]) -> dict[str, Any]:
        """The set-up of a form and the status of its `advice`; starts to compile its agents.

        Args:
            form: as for `open`, without a record.
        Raises:
            Refused: the form is invalid.
        """
        rules, setup, seats = self._dealt(form)
        setup_preview = setups.preview(setup, rules)
        self.compile(rules)
        self.agents.hurry([seat for seat in seats if seat != HUMAN], rules)
        has_advice = not rules.solo or not refusal(ADVISER, rules)
        advice = self.setup_advice.of(rules, setup, form) if has_advice else None
        return {**setup_preview, "advice": advice}

    def advise(self, form: Mapping[str, object]) -> dict[str, Any]:
        """Start advice on the set-up of a form, as for `preview`. Returns its status."""
        rules, setup, _ = self._dealt(form)
        return self.setup_advice.start(rules, setup, form)

    def _dealt(self, form: Mapping[str, object]) -> tuple[Rules, Setup, list[str]]:
        seats = self._seats(form, None)
        rules = self.rules_for(form.get("ruleset"), len(seats))
        return rules, setups.deal(form, rules), seats

    def get(self, id: str) -> Game:
        """A game by its id; KeyError if there is none."""
        with self.lock:
            game = self.games[id]
            self._touched[id] = time.monotonic()
            return game

    def _rematch_form(self, form: Mapping[str, Any]) -> Mapping[str, Any]:
        """The form; with `again`, the set-up and the seats of that game."""
        id = form.get("again")
        if id is None:
            return form
        game = self.games.get(str(id))
        if game is None:
            raise Refused("again: there is no such game")
        rematch = {"ruleset": game.rules.env.id, "setup": game.setup_json(), "seats": game.seats}
        return {**rematch, "settings": form.get("settings", {})}

    def lookahead(self, game: Game, part: str) -> dict[str, Any]:
        """One part of the lookahead at a person's turn, by its name in `lookahead.PARTS`.

        Raises:
            Refused: there is no such part.
        """
        if part not in lookahead.PARTS:
            raise Refused(
                f"there is no {part!r} further on; known are {', '.join(lookahead.PARTS)}"
            )
        node, rules, parts = game.nodes[game.now], game.rules, lookahead.PARTS[part]
        cached: dict[str, Any] | None = node.lookahead.get(part)
        if cached is None:
            if game.over() or game.agent_to_move() or not rules.ready:
                return {"node": node.id}
            priced = rules.prices_ready
            options = {name: find(rules, node.state) for name, find in parts.items()}
            cached = {"node": node.id, **options}
            if priced:
                node.lookahead[part] = cached
        return cached

    def ask_advice(self, game: Game, kind: str) -> None:
        """Start a `hint` or a `review` in the background; Refused if the adviser gives none."""
        reason = refusal(ADVISER, game.rules)
        if reason:
            raise Refused(reason)
        if kind == "review":
            self.advice.start_review(game)
        elif game.over() or game.agent_to_move():
            raise Refused("hints are for your own decisions")
        else:
            self.advice.start_hint(game)

    def _seats(self, form: Mapping[str, Any], record: Record | None) -> list[str]:
        """The players by seat: as many as the record or set-up has, if there is one."""
        setup = record.setup if record else form.get("setup")
        try:
            players = players_of(setup) if isinstance(setup, Mapping) else None
        except ValueError as error:
            raise Refused(str(error)) from error
        seats = form.get("seats", [HUMAN] * (players or 4))
        if not isinstance(seats, list) or len(seats) not in SEATS:
            raise Refused("seats: from one to four names are required")
        if players and len(seats) < players:
            raise Refused(f"seats: {players} names are required, not {len(seats)}")
        return [self.seat(seat) for seat in seats[:players]]

    def _record(self, record_json: object) -> Record:
        """The record to continue: a saved one by name, or one in the request."""
        if isinstance(record_json, str):
            return self.saves.read(record_json)
        if not isinstance(record_json, Mapping):
            raise Refused("record: the name of a saved one is required")
        try:
            return replay.parse(record_json)
        except RecordError as error:
            raise Refused(str(error)) from error

    def _walk(self, game: Game, record: Record) -> None:
        """Play a record's moves and show its first position."""
        for number, text in enumerate(record.actions):
            try:
                game.play(text)
            except Refused as error:
                self.saves.refuse(game.name)
                raise Refused(f"action {number + 1}: {error}") from error
        game.go(0)

    def rules_for(self, id: object, players: int) -> Rules:
        """The rules for a number of players; those for four exist from the start."""
        if not isinstance(id, str) or id not in RULESETS:
            raise Refused(f"unknown ruleset {id!r}; known are {', '.join(RULESETS)}")
        if players == 4:
            return self.rules[id]
        with self.lock:
            if (id, players) not in self._fewer:
                try:
                    self._fewer[id, players] = Rules(id, players)
                except ValueError as error:
                    raise Refused(str(error)) from error
            return self._fewer[id, players]

    def seat(self, occupant: object, rules: Rules | None = None) -> str:
        """The name of a player: HUMAN, or an agent that plays such games."""
        if occupant != HUMAN and occupant not in self.agents.names:
            allowed = ", ".join((HUMAN, *self.agents.names))
            raise Refused(f"unknown player {occupant!r}; known are {allowed}")
        if rules and occupant != HUMAN:
            reason = self.agents.refusal(occupant, rules.env.id, rules.env.num_players)
            if reason:
                raise Refused(reason)
        return str(occupant)

    def change(self, game: Game, change_name: str, body: Mapping[str, Any]) -> None:
        """One change to a game: act, go, undo, seat, settings or resume.

        Raises:
            Refused: it is invalid.
        """
        if change_name == "act":
            game.rules.prepare()  # outside the lock: it may wait for a compilation
        with self.wake:
            if change_name == "act":
                if body.get("node") not in (None, game.now):
                    raise Refused("the table has changed since; look again")
                if game.agent_to_move():
                    raise Refused("it is an agent's decision; take over the seat first")
                game.play_all(requested_actions(body))
                game.unsaved = True
                settings.carry_out(game, self.settings[game.id])
            elif change_name == "settings":
                self.settings[game.id] = settings.Settings.read(body)
                if game.rules.ready:
                    settings.carry_out(game, self.settings[game.id])
                game.changed()
            elif change_name == "go":
                game.go(whole_number(body, "node"))
            elif change_name == "undo":
                game.back()
            elif change_name == "seat":
                occupant = self.seat(body.get("who"), game.rules)
                game.sit(whole_number(body, "player"), occupant)
                if occupant != HUMAN:
                    self.agents.get(occupant, game.rules)
            elif change_name == "resume":
                game.resume()
            self.wake.notify_all()

    def analyse(self, game: Game, name: str, whole_game: bool, search: bool) -> dict[str, Any]:
        """An agent's evaluation of the present position, or of the whole line; see `evaluation`.

        Args:
            search: also search the present position, if the agent has a search.
        """
        if self.seat(name, game.rules) == HUMAN:
            raise Refused("agent: the name of an agent is required")
        base, spec = split_name(name)
        agent = self.agents.get(base, game.rules, POLICY)
        if agent.status != "ready":
            return {"agent": name, "waiting": agent.status_line(), "again": agent.under_way}
        if agent.policy is None:
            return {"agent": name, "waiting": f"{name} has no policy to show", "again": False}
        searching = self.agents.get(name, game.rules, SEARCH) if spec is not None else None
        at = game.now
        if search and searching and searching.status == "ready":
            # Without the lock: it takes a second.
            evaluation.search(game, at, searching)
        for id in game.line if whole_game else evaluation.near(game):
            with self.lock:
                if id < len(game.nodes):
                    evaluation.evaluate(game, id, agent)
        with self.lock:
            out = evaluation.report(game, agent)
            table = evaluation.searched(game, at, name) if searching else None
        report = {
            **out,
            "agent": name,
            "searches": searching is not None,
            "search": table,
            "at": at,
        }
        if searching and searching.status != "ready":
            report |= {"searching": searching.status_line(), "again": searching.under_way}
        return report

    def _work(self) -> None:
        seed = 0
        while True:
            with self.wake:
                turn = self._next()
                if turn is None:
                    self.wake.wait(5)
                    continue
                game, agent = turn
                node, state = game.now, game.nodes[game.now].state
            seed += 1
            try:
                action = agent.act(state, seed) if agent.act else -1
                text = game.rules.env.ruleset.actions.texts[action]
                with self.wake:
                    if game.now == node and game.agent_to_move() == agent.name:
                        game.play(text)
                        settings.carry_out(game, self.settings[game.id])
                        self.wake.notify_all()
            except Exception as error:  # an agent's own code may raise anything
                with self.wake:
                    reason = f"{type(error).__name__}: {error}".splitlines()[0]
                    game.message, game.paused = f"{agent.name}: {reason}", True
                    game.changed()
                    self.wake.notify_all()

    def _next(self) -> tuple[Game, AgentProgram] | None:
        """A game in which a compiled agent decides; the most recently used first."""
        for id in sorted(self.games, key=lambda id: -self._touched[id]):
            game = self.games[id]
            name = game.agent_to_move()
            if not name:
                continue
            agent = self.agents.get(name, game.rules)
            if agent.status == "ready" and game.rules.ready:
                return game, agent
            if agent.status == "failed" and not game.paused:
                game.message, game.paused = agent.status_line(), True
                game.changed()
                self.wake.notify_all()
        return None

    def records(self) -> list[dict[str, Any]]:
        """The saved records that can be opened: `name`, `ruleset`, `players`."""
        return self.saves.offers(self.rules_for)

    def save(self, game: Game, name: object) -> tuple[str, int]:
        """Save the line in view; the name of the record and how many moves it has.

        Raises:
            Refused: an invalid name, or too many records.
        """
        with self.lock:
            record = game.record()
        saved = self.saves.save(name, record)
        game.unsaved = False
        return saved, len(record.actions)

    def under_way(self) -> list[dict[str, Any]]:
        """The unfinished games of people, as `saves.about`."""
        with self.lock:
            return [about(game) for game in self.games.values() if game.unfinished()]

    def save_unfinished(self) -> list[str]:
        """Save all unfinished games when the server ends; a line for each, or its error."""
        messages = []
        for game in [game for game in self.games.values() if game.unfinished()]:
            try:
                name = self.save(game, unfinished_name())[0]
                messages.append(f"Saved: {name}. Choose it in the list of records to continue.")
            except (Refused, OSError) as error:  # too many records, or the disk is full
                messages.append(f"error: an unfinished game is not saved: {error}")
        return messages
