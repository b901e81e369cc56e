"""The tables of a server, the thread that plays for the agents, and the saved records."""

from __future__ import annotations

import itertools
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gaia_jax.replay import Record

from ..agents.search import split_name
from ..analysis.habits import MIN_GAMES
from . import evaluation, settings, setups, table_changes
from .advisers import Advisers, refusal
from .agent_pool import POLICY, SEARCH, AgentPool, AgentProgram
from .all_rules import AllRules
from .background import error_text
from .compiled_rules import Rules
from .game import HUMAN, Game, Refused, requested_actions, whole_number
from .hints import GameAnalyses
from .kept_tables import KeptTables, OpenTable, seated_agents
from .members import Forbidden, Members, read_name
from .player_habits import TOO_FEW, PlayerHabits
from .puzzle_book import PuzzleBook
from .saves import SHIPPED_MARK, Saves, check, imported
from .setup_advice import SetupAdvice

MAX_GAMES = 16


class GameServer:
    """The tables. Every method may be called from any thread."""

    def __init__(
        self, agents: AgentPool, saves: Path, max_games: int = MAX_GAMES, shared: bool = False
    ):
        """
        Args:
            agents: the agents on offer.
            saves: folder of the saved records, with the tables in `tables`.
            max_games: one more closes the least recently used; a kept table opens again.
            shared: whether new tables are shared (see `members`).
        """
        self.agents, self.saves, self.max_games = agents, Saves(saves), max_games
        self.kept, self.shared = KeptTables(saves / "tables"), shared
        self.rules = AllRules(on_change=self.stir)
        self.tables: dict[str, OpenTable] = {}
        advisers = Advisers()
        self.analyses, self.setup_advice = GameAnalyses(advisers), SetupAdvice(advisers)
        self._habits = PlayerHabits(advisers)
        self.puzzles = PuzzleBook()
        self.lock = threading.RLock()
        self.wake = threading.Condition(self.lock)
        self._reading = threading.Lock()
        self._touched: dict[str, float] = {}
        agents.on_change = self.stir
        agents.seated = lambda: seated_agents(list(self.tables.values()))
        threading.Thread(target=self._work, name="agents", daemon=True).start()

    def stir(self) -> None:
        """Wake the agents' thread, and the requests that wait for changes."""
        with self.wake:
            for table in self.tables.values():
                # Also at a person's decision: the page shows the compilations.
                table.game.changed()
            self.wake.notify_all()

    def open(self, form: Mapping[str, Any], browser: str = "") -> Game:
        """A new game: `ruleset`, `seats`, and a source, `factions`, `settings`, `name` of the host.

        The source is a `seed`, a `setup`, a `record`, or a `log` of boardgamers.space.

        A solo game has one seat, and `automa`, `automa_faction` as of `setups.deal`. `at` is the
        number of decisions after which a record is shown first; by default an ended one is shown
        from its beginning.

        Args:
            browser: the host of the table.
        Raises:
            Refused: one of them is invalid; the message is one line.
        """
        earlier = self._earlier(form, browser)
        if earlier:
            form = setups.rematch(earlier.game, form)
        record_json, log = form.get("record"), form.get("log")
        record = None if record_json is None else self.saves.open(record_json)
        if log is not None:
            record = imported(log)
        seats = setups.seats_of(form, record, self.agents)
        rules = self.rules.get(record.ruleset if record else form.get("ruleset"), len(seats))
        setup = check(record, self.rules.get)[1] if record else setups.deal(form, rules)
        for seat in seats:
            self.agents.occupant(seat, rules)
        chosen = settings.Settings.read(form.get("settings", {}))
        name = record_json.removeprefix(SHIPPED_MARK) if isinstance(record_json, str) else ""
        first = whole_number(form, "at") if "at" in form else None
        self.rules.compile(rules)
        game = Game(secrets.token_hex(6), rules, setup, seats, name)
        if record:
            rules.prepare()
            self._play_record(game, record)
            first = 0 if first is None and game.over() else first
            game.opens_at = first if first is None else game.node(first).id
        host_name = read_name(form["name"]) if form.get("name") else ""
        members = Members.of(browser, host_name, seats, self.shared)
        if earlier:
            members = members.take_people_from(earlier.members, seats, host_name)
        by_seat = list(earlier.settings) if earlier else [chosen] * len(seats)
        for player in members.played_by(browser, seats):
            by_seat[player] = chosen
        table = OpenTable(game, members, by_seat)
        table.reset_free_seats()
        self._add(table)
        self._keep(table, not record or members.shared)
        return game

    def _add(self, table: OpenTable) -> None:
        """Open a table, in place of the least recently used one if there are too many."""
        id, rules = table.game.id, table.game.rules
        self.agents.hurry(sorted(set(table.game.seats) - {HUMAN}), rules)
        with self.wake:
            if len(self.tables) >= self.max_games:
                oldest = min(self._touched, key=lambda key: self._touched[key])
                del self.tables[oldest], self._touched[oldest]
                self.analyses.forget(oldest)
            self.tables[id] = table
            self._touched[id] = time.monotonic()
            self.wake.notify_all()

    def _keep(self, table: OpenTable, begins: bool = False) -> None:
        """Write a table to the disk; one of a record from its first move or its sharing on."""
        with self.lock:
            table.is_kept |= begins
            try:
                if table.is_kept:
                    self.kept.keep(table, self.tables)
            except OSError as error:  # the disk is full
                table.game.message = f"this table is not kept on the disk: {error.strerror}"

    def preview(self, form: Mapping[str, Any]) -> dict[str, Any]:
        """The set-up of a form and the status of its `advice`; starts to compile its agents.

        Args:
            form: as for `open`, without a record.
        Raises:
            Refused: the form is invalid.
        """
        rules, seats = self._players(form)
        self.rules.compile(rules)  # meanwhile the set-up is dealt, which takes seconds at first
        self.agents.hurry([seat for seat in seats if seat != HUMAN], rules)
        setup = setups.deal(form, rules)
        advice = self.setup_advice.of(rules, setup, form)
        return {**setups.preview(setup, rules), "advice": advice}

    def advise(self, form: Mapping[str, object]) -> dict[str, Any]:
        """Start advice on the set-up of a form, as for `preview`. Returns its status.

        Raises:
            Refused: the adviser does not play such games.
        """
        rules, _ = self._players(form)
        return self.setup_advice.start(rules, setups.deal(form, rules), form)

    def _players(self, form: Mapping[str, object]) -> tuple[Rules, list[str]]:
        """The rules of a form, and the players by seat."""
        seats = setups.seats_of(form, None, self.agents)
        return self.rules.get(form.get("ruleset"), len(seats)), seats

    def get(self, id: str) -> OpenTable:
        """A table by its id, a kept one after playing it again; KeyError if there is none."""
        with self.lock:
            if id in self.tables:
                self._touched[id] = time.monotonic()
                return self.tables[id]
        with self._reading:
            if id not in self.tables:
                table = self.kept.read(id, self._rules_to_play)
                if table is None:
                    raise KeyError(id)
                self._add(table)
            return self.tables[id]

    def _rules_to_play(self, ruleset: str, players: int) -> Rules:
        """Rules that compile from now on."""
        rules = self.rules.get(ruleset, players)
        self.rules.compile(rules)
        return rules

    def members(self, id: str) -> tuple[Members, list[str]]:
        """The members and the players by seat of a table; KeyError if there is none."""
        with self.lock:
            table = self.tables.get(id)
            return (table.members, table.game.seats) if table else self.kept.members(id)

    def _earlier(self, form: Mapping[str, Any], browser: str) -> OpenTable | None:
        """The table of `again`, whose people play once more."""
        id = form.get("again")
        if id is None:
            return None
        try:
            if not self.members(str(id))[0].sees(browser):
                raise Forbidden("again: that game is not yours")
            return self.get(str(id))
        except KeyError:
            raise Refused("again: there is no such game") from None

    def start_analysis(
        self, table: OpenTable, browser: str, kind: str, at: int, move: Sequence[str]
    ) -> None:
        """Start a `hint`, a `check` or a `review` in the background.

        Args:
            move: the texts of the move of a check.
        Raises:
            Refused: there is no advice on such games, or the move is not legal.
        """
        game = table.game
        if reason := refusal(game.rules):
            raise Refused(reason)
        if kind == "review":
            self.analyses.start_review(game)
        elif not (table.may_act if kind == "check" else table.may_explain)(browser, at):
            raise Refused("hints are for your own decisions, and for those that have been made")
        elif kind == "check":
            self.analyses.start_check(game, requested_actions({"actions": move}), at)
        else:
            self.analyses.start_hint(game, at)

    def habits(self, browser: str, name: object, change: object) -> dict[str, Any]:
        """The habits of a player over ended tables: `status`, progress, `report` at its end.

        Args:
            change: "start" or "off"; anything else changes nothing.
        Raises:
            Refused: there are fewer than two such tables with such a name.
        """
        with self.lock:
            ids = self.kept.ended_of(browser).get(str(name), [])
        if len(ids) < MIN_GAMES:
            raise Refused(TOO_FEW)
        if change == "start":
            self._habits.start(browser, str(name), ids, self._read_kept)
        elif change == "off":
            self._habits.call_off(browser, str(name))
        return self._habits.status(browser, str(name))

    def _read_kept(self, id: str) -> OpenTable:
        """A kept table that need not be open."""
        with self._reading:
            table = self.tables.get(id) or self.kept.read(id, self.rules.get)
        if table is None:
            raise Refused("there is no such game")
        return table

    def _play_record(self, game: Game, record: Record) -> None:
        """Play a record's moves."""
        for number, text in enumerate(record.actions):
            try:
                game.play(text)
            except Refused as error:
                self.saves.refuse(game.name)
                raise Refused(f"action {number + 1}: {error}") from error

    def change(
        self, table: OpenTable, browser: str, change_name: str, body: Mapping[str, Any]
    ) -> None:
        """One change to a table by a browser, of `table_changes`, or `seat`.

        Raises:
            Refused: it is invalid, or Forbidden, it is for others to make.
        """
        change, game = table_changes.CHANGES.get(change_name, self._seat), table.game
        if change_name == "act":
            game.rules.prepare()  # outside the lock: it may wait for a compilation
        with self.wake:
            self._check_open(table)
            before, is_made = game.now, False
            try:
                change(table, browser, body)
                is_made = True
                if change_name == "resume":
                    self.agents.forget_failed(game.seats, game.rules)
            finally:  # a setting after the move may fail
                if game.now != before:
                    self.analyses.leave(game, before)
                if is_made or game.now != before:
                    game.changed()
                    self._keep(table, change_name in ("act", "share"))
                    self.wake.notify_all()

    def _check_open(self, table: OpenTable) -> None:
        """Refuse a table that has been closed: it may be open again, as another object."""
        if self.tables.get(table.game.id) is not table:
            raise Refused("the table has changed since; look again")

    def _seat(self, table: OpenTable, browser: str, body: Mapping[str, Any]) -> None:
        """Let a person or the agent `who` play the seat `player`."""
        if not table.members.is_host(browser):
            raise Forbidden("only the host of the table changes who plays")
        game, occupant = table.game, self.agents.occupant(body.get("who"), table.game.rules)
        player = whole_number(body, "player")
        game.sit(player, occupant)
        if occupant != HUMAN:
            self.agents.get(occupant, game.rules)
            table.members.clear(player)
            table.reset_free_seats()

    def enter(self, browser: str, key: str, name: str) -> str | None:
        """Follow a link to a table. Returns its id, None if no table has such a link.

        Raises:
            Refused: there is no room.
        """
        with self.lock:
            id = self.kept.id_of(key)
        if id is None:
            return None
        table = self.get(id)
        with self.wake:
            self._check_open(table)
            is_known = table.members.enter(browser, key, name)
            table.game.changed()
            self._keep(table)
        return id if is_known else None

    def analyse(
        self, game: Game, at: int, name: str, whole_game: bool, search: bool
    ) -> dict[str, Any]:
        """An agent's evaluation of a position, or of the whole line; see `evaluation`.

        Args:
            search: also search the position, if the agent has a search.
        """
        if self.agents.occupant(name, game.rules) == HUMAN:
            raise Refused("agent: the name of an agent is required")
        base, spec = split_name(name)
        agent = self.agents.get(base, game.rules, POLICY)
        searching = self.agents.get(name, game.rules, SEARCH) if spec is not None else None
        report = evaluation.analyse(game, at, agent, searching, self.lock, whole_game, search)
        return {**report, "agent": name}

    def _work(self) -> None:
        seeds = itertools.count(1)
        while True:
            with self.wake:
                turn = self._next()
                if turn is None:
                    self.wake.wait(5)
                    continue
                table, agent = turn
                game = table.game
                node, state = game.now, game.nodes[game.now].state
            try:
                assert agent.act
                text = game.rules.env.ruleset.actions.texts[agent.act(state, next(seeds))]
                with self.wake:
                    is_open = self.tables.get(game.id) is table
                    if is_open and game.now == node and game.agent_to_move() == agent.name:
                        game.play(text)
                        settings.carry_out(game, table.settings)
                        self._keep(table, True)
                        self.wake.notify_all()
            except Exception as error:  # an agent's own code may raise anything
                with self.wake:
                    game.message, game.paused = f"{agent.name}: {error_text(error)}", True
                    game.changed()
                    self.wake.notify_all()

    def _next(self) -> tuple[OpenTable, AgentProgram] | None:
        """A table at which a compiled agent decides; the most recently used first."""
        for id in sorted(self.tables, key=lambda id: -self._touched[id]):
            game = self.tables[id].game
            name = game.agent_to_move()
            if not name:
                continue
            agent = self.agents.get(name, game.rules)
            if agent.status == "ready" and game.rules.ready:
                return self.tables[id], agent
            if agent.status == "failed" and not game.paused:
                game.message, game.paused = agent.status_line(), True
                game.changed()
                self.wake.notify_all()
        return None

    def records(self) -> list[dict[str, Any]]:
        """The saved records that can be opened: `name`, `ruleset`, `players`."""
        return self.saves.offers(self.rules.get)

    def save(self, table: OpenTable, name: object) -> tuple[str, int]:
        """Save the line in view; the name of the record and how many moves it has.

        Raises:
            Refused: an invalid name, or too many records.
        """
        with self.lock:
            record = table.game.record(table.members.names)
        return self.saves.save(name, record), len(record.actions)
