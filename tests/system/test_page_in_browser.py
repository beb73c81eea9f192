"""The page in a real browser: login, questions, corrections, decisions and health.

Nothing may violate the content security policy, be requested from elsewhere, or be logged to the console.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.embedding_endpoint import Endpoint
from tests.page import HOSTILE, OpenPage, open_page
from tests.sweeps import WHOLE, some
from tests.waiting import eventually

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.skipif(
        CHROMIUM is None and os.environ.get("MEMORYD_TEST_BROWSER") != "required",
        reason="no browser: apt-get install chromium fonts-noto-cjk",
    ),
    pytest.mark.xdist_group("page-in-browser"),
]
PICTURES = os.environ.get("MEMORYD_TEST_PICTURES")
"""A folder for the pictures of the documentation; if unset, none are made."""
NOTES = {
    **HOSTILE,
    "MEMORY.md": "# Memory\n\nThe boat lies in the north harbour from May on.\n",
    "memory/2026-11-10.md": "# Tuesday\n\nThe stove in the cabin was cold again, so Tilde came by with her tools.\n\n"
    "## Retain\n- W @Tilde: the stove in the cabin was repaired by Tilde\n- W @Bram: takes the night train to work\n"
    "- W @Bram: keeps the spare key under the pot\n- O(c=0.8) @Wen: green tea is better than coffee\n",
    "memory/2026-11-11.md": "## Retain\n- W @Karmesin @Wen: The office printer is a Brother HL-2350.\n"
    "- W(from=agent) @Karmesin @Wen: The office printer is an HP M209.\n",
    "bank/world.md": "# World\n",
    "memory/2026-11-12.md": "# 星期四\n\n## Retain\n- W @文: 每个周末都去海边的木屋\n",
}
SESSION = "chat-ann-20261101"
READ = (
    "ask",
    "ask?q=stove",
    "ask?q=harbour",
    "open?at=memory/2026-11-10.md%23L3",
    "told",
    "memories",
    "disagreements",
    "entities",
    "entity?name=Wen",
    "conversations",
    f"conversation?id=session:{SESSION}",
    "changes",
    "health",
    "open?at=memory/2026-11-10.md%23L3-L5",
    "forget?target=memory/2026-11-10.md%23L3",
)
"""The pages to read; other pages have their own tests."""
EACH = tuple({path.partition("?")[0]: path for path in READ}.values())
"""Each page once."""
SHOWN = {("ask?q=stove", "light"): ("page-ask-light.png", 700), ("health", "dark"): ("page-health-dark.png", 655)}
"""Pictures in the documentation, with their height in pixels: below are files of this machine."""


class Watched:
    """The session of a browser, with its console messages and its requests to elsewhere."""

    def __init__(self, context: "BrowserContext", opened: OpenPage) -> None:
        self.problems: list[str] = []
        self.elsewhere: list[str] = []
        self.opened = opened
        self.context = context
        self.page = context.new_page()
        self.page.on("console", lambda message: self._record_message(message.type, message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self._record_request(request.url))

    def _record_message(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.problems.append(text)

    def _record_request(self, url: str) -> None:
        if not url.startswith((f"{self.opened.url}/", "data:")):
            self.elsewhere.append(url)

    def enter(self) -> "Page":
        """Log in with a new link."""
        self.page.goto(self.opened.link())
        self.page.wait_for_url("**/ask")
        return self.page

    def forgive(self) -> None:
        """Close the page and discard its problems; closed pages report none later."""
        self.page.close()
        self.problems.clear()
        self.elsewhere.clear()

    @property
    def base(self) -> str:
        """The address of this session's pages."""
        return self.page.url.partition("?")[0].rpartition("/")[0]

    def go(self, page: str) -> "Page":
        """Go to a page."""
        self.page.goto(f"{self.base}/{page}")
        return self.page


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPage]:
    with open_page(tmp_path_factory.mktemp("browsed"), NOTES) as running:
        with running.daemon.client() as client:
            opinion = next(row for row in client.opinions(entity="Wen")["opinions"] if "tea" in row["statement"])
            client.retain(f"W(supports={opinion['id'][:8]}) @Wen: ordered green tea again")
            client.reflect()
            at = "2026-11-01T10:00:00"
            client.turn("Who repaired the stove?", session_key="agent:main:chat:direct:ann", at=at)
        yield running


@pytest.fixture(scope="module")
def browser(starter_model: Path) -> "Iterator[Browser]":
    """Start a browser; the model is fetched before, since the browser's event loop allows no other."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # as root, a browser has no sandbox
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


def session(browser: "Browser", opened: OpenPage, **options: Any) -> "Iterator[Watched]":
    context = browser.new_context(**options)
    context.set_default_timeout(15_000)
    watched = Watched(context, opened)
    yield watched
    context.close()
    assert (watched.problems, watched.elsewhere) == ([], [])


@pytest.fixture
def watched(browser: "Browser", opened: OpenPage) -> "Iterator[Watched]":
    yield from session(browser, opened)


def test_person_asks_corrects_forgets_and_undoes(watched: Watched) -> None:
    page = watched.enter()
    assert "#" not in page.url
    page.keyboard.press("/")
    page.keyboard.type("who takes the night train")
    page.keyboard.press("Enter")
    answer = page.locator("article", has_text="takes the night train to work").first
    answer.get_by_text("Correct", exact=True).click()
    answer.get_by_label("What holds now").fill("takes the bus to work")
    answer.get_by_role("button", name="Replace it").click()
    page.get_by_text("Corrected").wait_for()
    page.locator("article .text", has_text="takes the bus to work").first.wait_for()
    with watched.opened.daemon.client() as client:
        texts = [item["content"] for item in client.recall("how does Bram go to work")["results"]]
        assert next(text for text in texts if text.startswith("takes")) == "takes the bus to work", "agents recall it"
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.get_by_text("Taken back").wait_for()

    watched.go("memories?q=spare+key")
    page.get_by_role("checkbox", name="Choose").check()
    page.get_by_role("button", name="Forget…").click()
    page.get_by_text("keeps the spare key under the pot").wait_for()
    page.get_by_role("button", name="Forget").click()
    page.get_by_role("heading", name="Forgotten").wait_for()
    page.reload()
    page.get_by_role("heading", name="Forgotten").wait_for()
    assert "memory/2026-11-10.md" in page.locator("dl.rows").inner_text()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Taken back").wait_for()
    watched.go("memories?q=spare+key")
    assert page.locator("article").count() == 1


def test_person_accepts_settles_and_marks_noise(watched: Watched) -> None:
    page = watched.enter()
    page.get_by_role("link", name="To decide").click()
    proposal = page.locator("article", has_text="bank/world.md").first
    proposal.get_by_role("button", name="Accept").click()
    page.get_by_text("1 proposal was accepted").wait_for()
    pair = page.locator("article", has_text="an HP M209")
    pair.get_by_role("button", name="Keep the newer").click()
    page.get_by_text("The newer one holds").wait_for()
    assert pair.count() == 0
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.get_by_text("Taken back").wait_for()
    assert pair.count() == 1

    page.get_by_role("link", name="Shown to the agent").click()
    part = page.locator("li", has_text="repaired by Tilde").first
    part.get_by_role("button", name="This was noise").click()
    page.get_by_text("Noted as noise").wait_for()

    page.locator("li", has_text="repaired by Tilde").first.get_by_role("button", name="This is wrong").click()
    page.get_by_text("Noted as wrong").wait_for()
    form = page.get_by_label("What holds now")
    assert form.is_visible(), "it is unfolded"
    form.fill("the stove in the cabin was repaired by Ilse")
    page.get_by_role("button", name="Replace it").click()
    page.get_by_text("Corrected").wait_for()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.get_by_role("status").get_by_text("Taken back").wait_for()


def test_keyboard_is_sufficient(watched: Watched) -> None:
    page = watched.enter()
    watched.go("memories")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate("[...document.querySelectorAll('.item')].indexOf(document.activeElement)") == 0
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    # shortcuts also work while a checkbox has the focus
    page.get_by_role("checkbox", name="Choose").first.check()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.matches('.item')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/memory?id=*")
    page.keyboard.press("/")
    page.wait_for_url("**/ask")
    box = page.locator("#q:focus")
    box.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("who/what")
    assert box.input_value() == "who/what"


def test_health_is_updated_live(watched: Watched) -> None:
    page = watched.enter()
    watched.go("health")
    files = page.locator("[data-live='main.files']")
    before = int(files.inner_text())
    (watched.opened.daemon.workspace / "memory" / "new.md").write_text("# New\n\nA new note.\n")
    seen = "before => Number(document.querySelector(\"[data-live='main.files']\").textContent) > before"
    assert page.wait_for_function(seen, arg=before)


@pytest.mark.torture
def test_progress_bar_moves_while_notes_are_embedded(browser: "Browser", tmp_path: Path, starter_model: Path) -> None:
    """The page itself records what it shows, without being reloaded."""
    note_all = """() => {
        const shown = document.querySelector("progress");
        window.seen = [shown.value];
        new MutationObserver(() => window.seen.push(shown.value)).observe(shown, { attributes: true });
    }"""
    notes = {f"memory/{n}.md": f"# Note {n}\n\nOn day {n} the {n}. boat came into the harbour.\n" for n in range(20)}
    with open_page(tmp_path, notes, starter_model) as opened:
        for watched in session(browser, opened):
            page = watched.enter()
            watched.go("health")
            page.wait_for_function("() => document.querySelector('progress').value === 100")
            page.evaluate(note_all)
            for n in range(120):
                text = f"# Later {n}\n\nThe {n}. train went into the valley, where {n} people waited for it.\n"
                (opened.daemon.workspace / "memory" / f"later-{n}.md").write_text(text)
            whole = """() => Number(document.querySelector("[data-live='main.files']").textContent) >= 140
                && document.querySelector("progress").value === 100"""
            page.wait_for_function(whole, timeout=60_000)
            seen = page.evaluate("window.seen")
            assert len({value for value in seen if value < 100}) >= 2, seen
            assert page.locator("h2").first.inner_text().casefold() == "up to date"


@pytest.mark.sweep
def test_pages_are_accessible_in_both_widths_and_colour_schemes(browser: "Browser", opened: OpenPage) -> None:
    from axe_playwright_python.sync_playwright import Axe

    sizes = ({"width": 1280, "height": 900}, {"width": 390, "height": 844})
    for scheme, size in zip(("light", "dark"), sizes, strict=True):
        for watched in session(browser, opened, color_scheme=scheme, viewport=size):
            # the policy forbids the checker's script, which is therefore evaluated outside the page
            page = watched.enter()
            for path in (READ if WHOLE else EACH) if scheme == "light" else some(READ, 3):
                watched.go(path)
                assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (path, scheme)
                page.evaluate(Axe().axe_script)
                found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
                serious = [violation["id"] for violation in found if violation["impact"] in ("serious", "critical")]
                assert serious == [], (path, scheme)
                links = page.get_by_role("navigation", name="Pages").get_by_role("link").all()
                boxes = [link.bounding_box() for link in links]
                assert len(boxes) == 8
                assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= size["width"] for box in boxes), path
                if PICTURES and (path, scheme) in SHOWN:
                    name, height = SHOWN[path, scheme]
                    clip = {"x": 0, "y": 0, "width": size["width"], "height": height}
                    page.screenshot(path=Path(PICTURES) / name, clip=clip)  # type: ignore[arg-type]  # a rectangle


@pytest.mark.sweep
def test_pages_can_be_read_without_javascript(browser: "Browser", opened: OpenPage) -> None:
    for watched in session(browser, opened, java_script_enabled=False):
        page, link = watched.page, opened.link()
        page.goto(link)
        page.get_by_label("paste").fill(link.partition("#")[2])
        page.get_by_role("button", name="Come in").click()
        for path in some(READ, 5):
            watched.go(path)
            assert page.locator("h1").count() == 1
            assert page.get_by_text("That was not done").count() == 0, path
        watched.go("ask?q=stove")
        page.get_by_text("the stove in the cabin was repaired by Tilde").first.wait_for()


@pytest.mark.torture
def test_link_works_once(watched: Watched) -> None:
    link = watched.opened.link()
    watched.page.goto(link)
    watched.page.wait_for_url("**/ask")
    watched.page.goto("about:blank")
    watched.page.goto(link)
    watched.page.get_by_text("this link was used already").wait_for()
    assert watched.page.url.endswith("/web/login")
    watched.forgive()


def test_new_link_pasted_at_the_login_works(watched: Watched) -> None:
    page = watched.page
    page.goto(f"{watched.opened.url}/")
    page.wait_for_url("**/web/login")
    # the address differs only in its fragment, so nothing is loaded
    page.evaluate("link => location.assign(link)", watched.opened.link())
    page.wait_for_url("**/ask")
    assert watched.problems == watched.elsewhere == []


@pytest.mark.torture
def test_written_text_survives_the_end_of_the_session(watched: Watched) -> None:
    page = watched.enter()
    watched.go("ask?q=stove")
    page.locator("summary", has_text="Correct").first.click()
    page.get_by_label("What holds now").first.fill("the stove was\nrepaired by nobody")
    other = watched.context.new_page()
    other.goto(f"{watched.base}/health")
    other.get_by_role("button", name="Log out").click()
    other.get_by_role("heading", name="Come in").wait_for()
    page.get_by_role("button", name="Replace it").first.click()
    kept = page.get_by_label("This is what you wrote")
    assert kept.input_value() == "the stove was\nrepaired by nobody"
    page.get_by_text("your session is over").wait_for()
    watched.forgive()


def test_person_corrects_a_line_of_a_note_in_the_answer(watched: Watched) -> None:
    page = watched.enter()
    note = watched.opened.daemon.workspace / "MEMORY.md"
    before = note.read_text()
    answer = page.locator("article", has_text="MEMORY.md").first

    def is_offered() -> bool:
        """Ask; a line that is not loaded within a moment is corrected on another page."""
        watched.go("ask?q=where+does+the+boat+lie")
        return answer.get_by_text("Correct", exact=True).count() > 0

    eventually(is_offered)
    answer.get_by_text("Correct", exact=True).click()
    field = answer.get_by_label("What this line of the note should say")
    assert field.input_value() == "The boat lies in the north harbour from May on."
    field.fill("The boat lies in the south harbour from May on.")
    answer.get_by_role("button", name="Write it into the note").click()
    page.get_by_text("Written into MEMORY.md").wait_for()
    page.locator("mark", has_text="south harbour").first.wait_for()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.get_by_text("Taken back").wait_for()
    assert page.locator("#q").input_value() == "where does the boat lie"
    page.locator("mark", has_text="north harbour").first.wait_for()
    assert note.read_text() == before


@pytest.mark.torture
def test_late_answer_of_a_slow_model_replaces_the_first(browser: "Browser", tmp_path: Path) -> None:
    with Endpoint(tmp_path) as endpoint:
        access = {"baseUrl": endpoint.url, "apiKey": "k"}
        search = {"provider": "openai", "model": "test-model", "remote": access}
        with open_page(tmp_path, {"MEMORY.md": NOTES["MEMORY.md"]}, search=search) as opened:
            opened.daemon.client().sync(wait="embedded")
            endpoint.kill()
            endpoint.delay = 1.5
            endpoint.start()
            held: list[Route] = []
            for watched in session(browser, opened):
                page = watched.enter()
                watched.go("ask?q=the+north+harbour")
                page.get_by_text("Not all of your memory has answered yet").wait_for()
                page.get_by_text("in meaning").first.wait_for()
                assert page.get_by_text("Not all of your memory has answered yet").count() == 0
                assert page.locator(".copy").first.is_visible(), "later content works as well"
                page.route("**/*whole=yes*", lambda route: held.append(route))

                questions = count(1)

                def is_offered(watched: Watched = watched, questions: Iterator[int] = questions) -> bool:
                    # a new question each time, since answers of the model are cached
                    with watched.page.expect_request("**/*whole=yes*"):
                        watched.go(f"ask?q=a+north+harbour+in+May+{next(questions)}")
                    return watched.page.get_by_text("Correct", exact=True).count() > 0

                eventually(is_offered)
                page.get_by_text("Correct", exact=True).first.click()
                field = page.get_by_label("What this line of the note should say")
                field.fill("somebody is at work")
                held[-1].continue_()
                page.get_by_role("link", name="show all of it").wait_for()
                assert field.input_value() == "somebody is at work"


def test_logout_ends_the_session(watched: Watched) -> None:
    page = watched.enter()
    with page.expect_response("**/events"):
        watched.go("health")
    cookies = watched.context.cookies(page.url)
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("heading", name="Come in").wait_for()
    assert cookies
    assert watched.context.cookies(f"{watched.opened.url}{cookies[0]['path']}health") == []
    # the kept cookie is invalid, too
    watched.context.add_cookies(cookies)  # type: ignore[arg-type]  # the same cookies
    page.goto(f"{watched.opened.url}{cookies[0]['path']}health")
    page.get_by_text("your session is over").wait_for()
    watched.forgive()


def test_page_on_another_port_gets_no_cookie_and_writes_nothing(watched: Watched) -> None:
    page, cookies = watched.enter(), list[str]()
    base = watched.base

    class Foreign(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies.append(self.headers.get("Cookie", ""))
            body = f"<form method=post action='{base}/agent'><button>go</button></form>".encode()
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Foreign)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        page.get_by_role("button").click()
        page.get_by_text("the request is refused").wait_for()
    finally:
        server.shutdown()
        server.server_close()
    assert set(cookies) == {""}
    watched.forgive()
