"""The page in a real browser: a person comes in by the link, asks, mends what is wrong and looks whether all is well.

Nothing may be refused by the content security policy, asked for elsewhere, or said on the console.
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
"""A folder for the pictures of the documentation; unset: none are made."""
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
"""What can be read; more pages than these have tests of their own."""
EACH = tuple({path.partition("?")[0]: path for path in READ}.values())
"""Each page once."""
SHOWN = {("ask?q=stove", "light"): ("page-ask-light.png", 700), ("health", "dark"): ("page-health-dark.png", 655)}
"""What the documentation shows of it, so many pixels from the top: below stands where this machine has its files."""


class Watched:
    """One browser's session: what it complains of, and what it asked for elsewhere."""

    def __init__(self, context: "BrowserContext", opened: OpenPage) -> None:
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        self.opened = opened
        self.context = context
        self.page = context.new_page()
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def _asked(self, url: str) -> None:
        if not url.startswith((f"{self.opened.url}/", "data:")):
            self.elsewhere.append(url)

    def enter(self) -> "Page":
        """Come in by a new link."""
        self.page.goto(self.opened.link())
        self.page.wait_for_url("**/ask")
        return self.page

    def forgive(self) -> None:
        """Close the page, and forget what it complained of; a page that is closed complains no later."""
        self.page.close()
        self.complaints.clear()
        self.elsewhere.clear()

    @property
    def base(self) -> str:
        """Where the pages of this session are."""
        return self.page.url.partition("?")[0].rpartition("/")[0]

    def go(self, page: str) -> "Page":
        """Go to a page."""
        self.page.goto(f"{self.base}/{page}")
        return self.page


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPage]:
    with open_page(tmp_path_factory.mktemp("browsed"), NOTES) as running:
        with running.daemon.client() as client:
            opinion = next(one for one in client.opinions(entity="Wen")["opinions"] if "tea" in one["statement"])
            client.retain(f"W(supports={opinion['id'][:8]}) @Wen: ordered green tea again")
            client.reflect()
            at = "2026-11-01T10:00:00"
            client.turn("Who repaired the stove?", session_key="agent:main:chat:direct:ann", at=at)
        yield running


@pytest.fixture(scope="module")
def browser(starter_model: Path) -> "Iterator[Browser]":
    """A browser; the model is fetched before, for the loop that a browser is driven by lets no other one run."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # as root a browser has no sandbox of its own
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


def session(browser: "Browser", opened: OpenPage, **options: Any) -> "Iterator[Watched]":
    context = browser.new_context(**options)
    context.set_default_timeout(15_000)
    watched = Watched(context, opened)
    yield watched
    context.close()
    assert (watched.complaints, watched.elsewhere) == ([], [])


@pytest.fixture
def watched(browser: "Browser", opened: OpenPage) -> "Iterator[Watched]":
    yield from session(browser, opened)


def test_person_asks_mends_forgets_and_takes_it_back(watched: Watched) -> None:
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
        told = [one["content"] for one in client.recall("how does Bram go to work")["results"]]
        assert next(one for one in told if one.startswith("takes")) == "takes the bus to work", "agents are told so"
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


def test_person_accepts_a_proposal_settles_a_disagreement_and_marks_noise(watched: Watched) -> None:
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
    told = page.locator("li", has_text="repaired by Tilde").first
    told.get_by_role("button", name="This was noise").click()
    page.get_by_text("Noted as noise").wait_for()

    page.locator("li", has_text="repaired by Tilde").first.get_by_role("button", name="This is wrong").click()
    page.get_by_text("Noted as wrong").wait_for()
    form = page.get_by_label("What holds now")
    assert form.is_visible(), "it is open"
    form.fill("the stove in the cabin was repaired by Ilse")
    page.get_by_role("button", name="Replace it").click()
    page.get_by_text("Corrected").wait_for()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.get_by_role("status").get_by_text("Taken back").wait_for()


def test_keys_alone_are_enough(watched: Watched) -> None:
    page = watched.enter()
    watched.go("memories")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate("[...document.querySelectorAll('.item')].indexOf(document.activeElement)") == 0
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    # a ticked box is no text: keys are still keys
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


def test_health_follows_what_happens(watched: Watched) -> None:
    page = watched.enter()
    watched.go("health")
    files = page.locator("[data-live='main.files']")
    before = int(files.inner_text())
    (watched.opened.daemon.workspace / "memory" / "new.md").write_text("# New\n\nA new note.\n")
    seen = "before => Number(document.querySelector(\"[data-live='main.files']\").textContent) > before"
    assert page.wait_for_function(seen, arg=before)


@pytest.mark.torture
def test_progress_moves_while_notes_become_findable_by_meaning(
    browser: "Browser", tmp_path: Path, starter_model: Path
) -> None:
    """What the page shows is noted by the page itself: nobody loads it again."""
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
            assert len({one for one in seen if one < 100}) >= 2, seen
            assert page.locator("h2").first.inner_text().casefold() == "up to date"


@pytest.mark.sweep
def test_pages_have_no_serious_fault_of_access_wide_or_narrow_light_or_dark(
    browser: "Browser", opened: OpenPage
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    sizes = ({"width": 1280, "height": 900}, {"width": 390, "height": 844})
    for scheme, size in zip(("light", "dark"), sizes, strict=True):
        for watched in session(browser, opened, color_scheme=scheme, viewport=size):
            # the policy forbids the script of the checker, which is run beside the page
            page = watched.enter()
            for path in (READ if WHOLE else EACH) if scheme == "light" else some(READ, 3):
                watched.go(path)
                assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (path, scheme)
                page.evaluate(Axe().axe_script)
                found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
                assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == [], (path, scheme)
                links = page.get_by_role("navigation", name="Pages").get_by_role("link").all()
                boxes = [link.bounding_box() for link in links]
                assert len(boxes) == 8
                assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= size["width"] for box in boxes), path
                if PICTURES and (path, scheme) in SHOWN:
                    name, height = SHOWN[path, scheme]
                    clip = {"x": 0, "y": 0, "width": size["width"], "height": height}
                    page.screenshot(path=Path(PICTURES) / name, clip=clip)  # type: ignore[arg-type]  # a rectangle


@pytest.mark.sweep
def test_all_can_be_read_without_a_script(browser: "Browser", opened: OpenPage) -> None:
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
def test_link_is_good_once(watched: Watched) -> None:
    link = watched.opened.link()
    watched.page.goto(link)
    watched.page.wait_for_url("**/ask")
    watched.page.goto("about:blank")
    watched.page.goto(link)
    watched.page.get_by_text("this link was used already").wait_for()
    assert watched.page.url.endswith("/web/login")
    watched.forgive()


def test_new_link_that_is_pasted_at_the_login_lets_in(watched: Watched) -> None:
    page = watched.page
    page.goto(f"{watched.opened.url}/")
    page.wait_for_url("**/web/login")
    # the same address but for what is behind the mark: nothing is loaded
    page.evaluate("link => location.assign(link)", watched.opened.link())
    page.wait_for_url("**/ask")
    assert watched.complaints == watched.elsewhere == []


@pytest.mark.torture
def test_text_that_was_written_outlives_the_session(watched: Watched) -> None:
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


def test_person_corrects_a_line_of_a_note_where_it_is_found(watched: Watched) -> None:
    page = watched.enter()
    note = watched.opened.daemon.workspace / "MEMORY.md"
    before = note.read_text()
    answer = page.locator("article", has_text="MEMORY.md").first

    def is_offered() -> bool:
        """Ask; a line that is not read within a moment is corrected on another page."""
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
def test_answer_of_a_slow_model_comes_in_place_of_the_first_and_disturbs_nobody(
    browser: "Browser", tmp_path: Path
) -> None:
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
                assert page.locator(".copy").first.is_visible(), "what came later is as what came first"
                page.route("**/*whole=yes*", lambda route: held.append(route))

                questions = count(1)

                def is_offered(watched: Watched = watched, questions: Iterator[int] = questions) -> bool:
                    # each time another one: the model answers none twice
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


def test_who_logs_out_is_out(watched: Watched) -> None:
    page = watched.enter()
    with page.expect_response("**/events"):
        watched.go("health")
    cookies = watched.context.cookies(page.url)
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("heading", name="Come in").wait_for()
    assert cookies
    assert watched.context.cookies(f"{watched.opened.url}{cookies[0]['path']}health") == []
    # whoever kept the cookie is out as well
    watched.context.add_cookies(cookies)  # type: ignore[arg-type]  # the same cookies
    page.goto(f"{watched.opened.url}{cookies[0]['path']}health")
    page.get_by_text("your session is over").wait_for()
    watched.forgive()


def test_page_of_another_port_gets_no_cookie_and_writes_nothing(watched: Watched) -> None:
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
