"""Requests of the page that fail, overlap or are repeated."""

from __future__ import annotations

from tests.browser import Watched
from tests.play.page import MINE, begin, go, press, show
from tests.play.server import Server


def test_a_table_that_is_entered_again_has_one_long_poll(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4)
    tab.until(MINE)
    game = tab.page.evaluate("game.id")
    tab.hold(f"/api/games/{game}?since")
    press(tab, tab.page.evaluate("game.legal[0].text"))  # news end the poll under way
    tab.until("heldBack.length === 1")
    for _ in range(2):
        tab.page.evaluate("location.hash = ''")
        tab.until("!game")
        tab.page.evaluate(f"location.hash = '{game}'")
        tab.until(f"game && game.id === '{game}'")
    tab.until("heldBack.length === 3")
    tab.release()
    press(tab, tab.page.evaluate("game.legal[0].text"))
    tab.until("heldBack.length >= 1")
    tab.page.evaluate("pause(1500)")  # a poll that would go on asks again after a second
    assert tab.num_waiting() == 1
    tab.release()


def test_an_error_of_the_page_does_not_end_its_requests(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4)
    tab.until(MINE)
    # The answer is there at once, so that no poll is drawn meanwhile.
    tab.page.evaluate("""async () => {
      const usual = [update, request];
      update = () => { throw new Error("drawing"); };
      request = async () => game;
      await go(game.node).catch(() => null);
      [update, request] = usual;
    }""")
    press(tab, tab.page.evaluate("game.legal[0].text"))
    assert tab.page.evaluate("!busy && !document.body.classList.contains('busy')")


def test_a_link_to_a_position_survives_a_failure_and_another_table(
    tab: Watched, server: Server
) -> None:
    begin(tab, server.home, ("you",) * 4)
    tab.until(MINE)
    tab.page.evaluate("""async () => {
      const [usual, open] = [request, game];
      request = async () => null;
      await positionLink();
      request = async (...args) => {
        const answer = await usual(...args);
        game = null;
        return answer;
      };
      await positionLink();
      [request, game] = [usual, open];
    }""")
    assert "#position=" in tab.page.input_value("#link")


def test_work_in_the_background_survives_a_failed_poll(tab: Watched, server: Server) -> None:
    """After several the work has failed, and is not shown as running any more."""
    begin(tab, server.home, ("you",) * 4)
    tab.until(MINE)
    follow = """async (answers) => {
      const [usual, reports] = [request, []];
      request = async () => answers.shift() ?? null;
      await followJob(jobAt("/api/job"), 1, () => true, ({ status }) => reports.push(status));
      request = usual;
      return reports;
    }"""
    running, ready = {"status": "running"}, {"status": "ready"}
    answers = [running, running, None, ready]
    assert tab.page.evaluate(follow, answers) == ["running", "running", "ready"]
    assert tab.page.evaluate(follow, [running]) == ["running", "failed"]


def test_a_lookahead_that_is_lost_is_requested_again(tab: Watched, server: Server) -> None:
    """Its request failed, or another position was in view when the answer came."""
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    turn = "game.moves.findIndex(({ text }) => text.startsWith('advance'))"
    go(tab, tab.page.evaluate(turn))
    tab.until("furtherNow().turn > 0 && game.legal.every((choice) => choice.effects)", 300)
    for answer in (None, {"node": -1}):
        tab.page.evaluate(
            """async (answer) => {
              const usual = request;
              request = async () => answer;
              furtherOf = "";
              await drawFurther();
              [request, further] = [usual, NOTHING_FURTHER];
              drawFurther();
            }""",
            answer,
        )
        tab.until("furtherNow().turn > 0")


def test_a_second_table_shares_nothing_with_the_first(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4)
    other = server.new_game(ruleset="lost_fleet", seats=["you"] * 4, seed=6)
    tab.page.evaluate(f"location.hash = '{other}'")
    tab.until(f"game && game.id === '{other}' && game.legal.length > 0")
    tab.page.locator("#legal button[data-at]").first.focus()
    tab.until("document.querySelectorAll('.stage .over-look.ring').length === 1")
    resized = "view.keep(5000), window.dispatchEvent(new Event('resize')), view.kept"
    assert tab.page.evaluate(resized) == 0


def test_a_link_in_view_is_valid_and_of_the_table_in_view(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4)
    show_link = "showLink(`#key=${game.seats[1].key}`)"
    tab.page.evaluate("change('share')")
    tab.until("game.seats[1].key")
    tab.page.evaluate(show_link)
    tab.page.evaluate("change('leave', { player: 1 })")  # the link of a seat that was left is void
    tab.until("byId('link').hidden")
    tab.page.evaluate(f"{show_link}; tour.begin()")
    other = server.new_game(ruleset="lost_fleet", seats=["you"] * 4, seed=6)
    tab.page.evaluate(f"location.hash = '{other}'")
    tab.until(f"game && game.id === '{other}'")
    assert tab.page.evaluate("byId('link').hidden && !document.querySelector('#tour-box')")


def test_two_clicks_on_again_open_one_table(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    go(tab, page.evaluate("game.line.length - 1"))
    tab.until("!document.getElementById('end').hidden")
    old = page.evaluate("game.id")
    tab.until("!requestSentAt")
    tab.hold("/api/games")
    num_asked = page.evaluate("""() => {
      const before = heldBack.length; // a poll waits too
      [0, 1].forEach(() => byId("again").click());
      return heldBack.length - before;
    }""")
    assert num_asked == 1
    tab.release()
    # The requests of the new table begin with the same path.
    tab.until(f"heldBack.splice(0).forEach((go) => go()) || game && game.id !== '{old}'")


def test_an_address_that_changes_while_the_form_loads_builds_it_once(
    tab: Watched, server: Server
) -> None:
    tab.hold_from_start("/api/offers")
    tab.page.goto(server.home)
    tab.until("heldBack.length === 1")
    tab.page.evaluate("location.hash = 'seed=5'")
    tab.until("heldBack.length === 2")
    # Once the form is built, the full offers are asked for.
    tab.until("heldBack.splice(0).forEach((go) => go()) || offers && offers.records.length > 0")
    assert tab.page.locator("#chairs .chair").count() == 5
    assert tab.page.locator("#chair-0").count() == 1


def test_the_error_of_a_link_to_no_game_stays_on_the_form(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4)
    tab.page.evaluate("location.hash = '0123456789ab'")
    tab.until("!game && document.querySelector('#preview svg')")
    assert tab.page.inner_text("#start-message") == "there is no such game"
    tab.wrong.clear()  # the browser reports the status 404


def test_a_name_is_stored_where_there_is_no_seat_to_take(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4)
    tab.page.click(".tabs button[data-tab='Table']")
    tab.page.fill("#own-name", " Anna ")
    tab.page.press("#own-name", "Tab")
    assert tab.page.evaluate("ownName()") == "Anna"


def test_the_box_of_choices_returns_the_focus(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4)
    tab.until(MINE)
    focused = tab.page.evaluate("""() => {
      const place = document.querySelector(".own .fold");
      openChoice(choicesNow().slice(0, 2), { detail: 0 }, place);
      const inBox = byId("choice").contains(document.activeElement);
      stepOut();
      return [inBox, document.activeElement === place];
    }""")
    assert focused == [True, True]


def test_charts_have_names(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    show(tab, "Log")
    assert tab.page.locator("#scores").get_by_role("img", name="VP").count() == 1
