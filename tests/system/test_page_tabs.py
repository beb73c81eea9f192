"""Several tabs of one session at the page: each keeps its agent, its content and its notices."""

import html
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.page import OURS, OpenPage, PageClient, open_page, text_of
from tests.system.test_page_answers import forms_of

RETAIN = "## Retain\n"
NOTES = {"memory/2026-11-10.md": f"{RETAIN}- W @Tilde: the stove is green\n- W @Bram: the boat is red\n"}


@pytest.fixture
def opened(tmp_path: Any) -> Iterator[OpenPage]:
    """Run two agents, each with its own notes; the second is the default."""
    other = tmp_path / "other"
    (other / "memory").mkdir(parents=True)
    (other / "memory" / "2026-11-10.md").write_text(f"{RETAIN}- W @Wen: the harbour is frozen\n")
    search = {"provider": "none", "sync": {"deleteGraceMs": 100}}
    agents = {
        "defaults": {"workspace": str(tmp_path / "workspace"), "memorySearch": search},
        "list": [{"id": "first"}, {"id": "second", "workspace": str(other), "default": True}],
    }
    with open_page(tmp_path, NOTES, agents=agents) as running:
        running.daemon.client().sync(agent="first")
        yield running


def test_each_tab_keeps_its_agent(opened: OpenPage) -> None:
    with opened.enter() as tab:
        begun = tab.get("memories").text
        assert "<option selected>second" in begun
        assert "the harbour is frozen" in begun
        (form,) = forms_of(begun, "agent")
        other = tab.post("agent", **{**form, "agent": "first"})
        assert other.url.path.endswith("/first/ask")
        assert "<option selected>first" in other.text
        assert "the stove is green" in tab.of("first").get("memories").text
        done = tab.post("remember", text="the harbour thaws in March")
        assert "Remembered." in done.text
        assert "thaws" in tab.get("memories").text
        assert "thaws" not in tab.of("first").get("memories").text
        (undo,) = forms_of(done.text, "undo")
        assert "Taken back" in tab.post("undo", **undo).text
        assert "the harbour is frozen" in tab.get("memories").text


def test_unknown_agent_leads_to_the_known_ones(opened: OpenPage) -> None:
    with opened.enter() as tab:
        answer = tab.of("third").get("memories")
        assert (answer.status_code, "Configured agents: first, second." in answer.text) == (404, True)
        assert "<option>second" in answer.text
        chosen = tab.of("third").post("agent", agent="second")
        assert (chosen.status_code, chosen.url.path.endswith("/second/ask")) == (200, True)
        assert tab.http.get(tab.base.rpartition("/")[0] + "/FIRST", headers=tab._headers({})).status_code == 303


def test_file_name_with_a_line_feed_is_handled_exactly(opened: OpenPage) -> None:
    workspace = opened.daemon.workspace
    core, odd = workspace / "MEMORY.md", workspace / "memory" / "x\nMEMORY.md"
    core.write_text("# Core\n\nkeep this\n")
    odd.write_text("# Odd\n\nthe quokka ate\n")
    opened.daemon.client().sync(agent="first")
    with opened.enter() as session:
        tab = session.of("first")
        plan = tab.get("forget", target="memory/x\nMEMORY.md#L1-L3")
        (form,) = forms_of(plan.text, "forget")
        assert form["target"] == "memory/x\nMEMORY.md#L1-L3"
        assert "keep this" not in plan.text
        # as a browser sends it
        receipt = tab.post("forget", **{**form, "target": form["target"].replace("\n", "\r\n")})
        assert "Forgotten" in receipt.text
        assert core.read_text() == "# Core\n\nkeep this\n"
        assert "quokka" not in odd.read_text()


def test_notice_is_shown_once_on_the_page_that_acted(opened: OpenPage) -> None:
    with opened.enter() as session:
        tab = session.of("first")
        first = tab.post("remember", follow=False, text="the oars are of ash", back="told?session=x")
        second = tab.post("remember", follow=False, text="the sail is brown")
        assert "Undo" not in tab.get("ask").text, "another tab"
        answers = [tab.get(reply.headers["location"]).text for reply in (second, first)]
        shown = [forms_of(text, "undo")[0] for text in answers]
        assert [form["back"] for form in shown] == ["ask", "told?session=x"]
        assert "Taken back" in tab.post("undo", **shown[1]).text
        kept = tab.get("memories").text
        assert ("ash" in kept, "sail is brown" in kept) == (False, True)
        assert "Undo" not in tab.get(first.headers["location"]).text, "reloaded"


def test_memory_added_after_the_preview_is_not_forgotten_unseen(opened: OpenPage) -> None:
    with opened.enter() as session:
        tab = session.of("first")
        target = id_in(tab, "the boat is red")
        (form,) = forms_of(tab.get("forget", target=target).text, "forget")
        again = opened.daemon.workspace / "memory" / "2026-11-12.md"
        again.write_text(f"{RETAIN}- W @Bram: the boat is red\n")
        opened.daemon.client().sync(agent="first")
        late = tab.post("forget", **form)
        assert (late.status_code, "would forget has changed" in late.text) == (400, True)
        assert tab.post("forget", target=target).status_code == 400, "it was never shown"
        assert "the boat is red" in again.read_text()
        assert "Lines of notes 2" in text_of(tab.forget(target))


def test_back_link_avoids_deleted_pages_and_keeps_the_list_position(opened: OpenPage) -> None:
    with opened.enter() as session:
        tab = session.of("first")
        target = id_in(tab, "the boat is red")
        own = f"memory?id={target}"
        (kept,) = re.findall(r'<a href="([^"]*)">Keep it', tab.get("forget", target=target, back=own).text)
        assert kept == own
        done = tab.forget(target, back=own)
        assert '<a href="memories">Back' in done.text
        note = opened.daemon.workspace / "memory" / "2026-11-12.md"
        note.write_text(RETAIN + "".join(f"- W @Box: box {n} is empty\n" for n in range(40)))
        opened.daemon.client().sync(agent="first")
        (following,) = re.findall(r'<a rel="next" href="([^"]*)"', tab.get("memories", q="box").text)
        second = tab.get(html.unescape(following)).text
        (form,) = forms_of(second, "forget")
        assert form["back"] == html.unescape(following)
        assert tab.get(form["back"]).text == second


def test_undo_of_several_reports_each(opened: OpenPage) -> None:
    with opened.enter() as session:
        tab = session.of("first")
        made = [
            forms_of(tab.post("remember", text=f"the {name} is new").text, "undo")[0]["id"] for name in ("mast", "keel")
        ]
        note = next(path for path in opened.daemon.workspace.rglob("*.md") if "the mast is new" in path.read_text())
        note.write_text(note.read_text().replace("the mast is new", "the mast is old"))
        opened.daemon.client().sync(agent="first")
        text = text_of(answer := tab.post("undo", id=made))
        assert f"Taken back: {made[1]}. Change {made[0]} is not taken back: " in text
        assert 'class="notice wrong"' in answer.text
        assert "the keel is new" not in note.read_text()
        assert len(forms_of(answer.text, "undo")) >= 1


def test_memory_corrected_meanwhile_is_not_replaced_unseen(opened: OpenPage) -> None:
    with opened.enter() as session:
        tab = session.of("first")
        target = id_in(tab, "the boat is red")
        assert "Corrected" in tab.post("correct", id=target, text="the boat is blue", back="ask?q=boat").text
        late = tab.post("correct", id=target, text="the boat is <green>", back="ask?q=boat")
        assert "It was corrected meanwhile" in late.text
        assert "the boat is blue" in text_of(late)
        (form,) = forms_of(late.text, "correct")
        assert ("the boat is &lt;green&gt;" in late.text, form["back"]) == (True, "ask?q=boat")
        assert "boat is green" not in tab.get("memories").text
        assert not forms_of(tab.get("memory", id=target).text, "correct"), "only the current version can be corrected"
        assert "Corrected" in tab.post("correct", **{**form, "text": "the boat is green"}).text
        listed = text_of(tab.get("memories", q="boat"))
        assert all(f"the boat is {colour}" in listed for colour in ("red", "blue", "green"))


def test_citation_beyond_the_end_of_a_note_shows_its_end(opened: OpenPage) -> None:
    with opened.enter() as session:
        answer = session.of("first").get("open", at="memory/2026-11-10.md#L999999999")
        text = text_of(answer)
        assert "It has no such lines any more. This is its end." in text
        assert "3 - W @Bram: the boat is red" in text
        assert "Forget this line" not in text


def test_unchanged_stable_block_links_to_its_question(opened: OpenPage) -> None:
    with opened.daemon.client() as client, opened.enter() as session:
        for number in range(9):
            client.turn(
                f"Where was lamp {number}?", session_key="agent:first:chat:direct:ann", at=f"2026-11-02T10:0{number}:00"
            )
        name = client.told(agent="first")["turns"][0]["session"]
        tab = session.of("first")
        last = tab.get("told", session=name).text
        (to,) = set(re.findall(r'the same since <a href="([^"]*)"', last))
        assert "Where was lamp 0?" not in last
        assert "Where was lamp 0?" in tab.get(html.unescape(to)).text


def test_written_text_survives_the_end_of_the_session(opened: OpenPage) -> None:
    with opened.enter() as session:
        tab = session.of("first")
        target = id_in(tab, "the boat is red")
        tab.post("logout", follow=False)
        late = tab.post("correct", id=target, text="\nthe boat is <blue> & new")
        assert (late.status_code, "Your session is over." in late.text) == (401, True)
        assert ">\n\nthe boat is &lt;blue&gt; &amp; new</textarea>" in late.text
        assert "memoryctl web" in late.text
        gone = tab.get("ask")
        assert (gone.status_code, "Your session is over." in gone.text) == (401, True)
        assert "what you wrote" not in gone.text
    with opened.enter() as again:
        assert "<blue>" not in html.unescape(again.of("first").get("memories").text)


def test_refused_text_is_shown_with_the_reason(opened: OpenPage) -> None:
    with opened.enter() as session:
        tab = session.of("first")
        target = id_in(tab, "the boat is red")
        old = "- W @Bram: the boat is red"
        forms: dict[str, dict[str, Any]] = {
            "correct": {"id": target},
            "remember": {},
            "correct-lines": {"at": "memory/2026-11-10.md#L3", "old": old},
        }
        for form, fields in forms.items():
            blank = text_of(tab.post(form, text=" ", **fields))
            assert "That was not done There is nothing in it: write what it should say." in blank
            long = tab.post(form, text="long " * 1000, **fields)
            assert "It is too long: it may have 4,000 characters." in long.text
            assert "long long" in long.text


def test_whole_link_can_be_pasted_without_javascript(opened: OpenPage) -> None:
    with httpx.Client(base_url=opened.url, verify=False) as browser:
        entered = browser.post("/web/login", data={"token": opened.link()}, headers=OURS)
        assert (entered.status_code, "memoryd" in entered.cookies) == (303, True)


def test_unreadable_page_gives_the_reason(opened: OpenPage) -> None:
    with opened.daemon.client() as client, opened.enter() as session:
        tab = session.of("first")
        text = text_of(tab.get("memory", id="nothing"))
        assert "That cannot be shown" in text
        assert "not done" not in text
        client.turn("Where is the boat?", session_key="agent:first:chat:direct:ann", at="2026-11-02T10:00:00")
        name = f"session:{client.told(agent='first')['turns'][0]['session']}"
        tab.post("private", id=name, remember="no")
        text = text_of(tab.get("conversation", id=name))
        assert "This conversation is private. Have it remembered again on Conversations." in text


def id_in(tab: PageClient, words: str) -> str:
    """Return the id of the first memory that has these words."""
    found: list[str] = re.findall(rf'value="([\w-]+)" aria-label="Choose {words}', tab.get("memories", q=words).text)
    return found[0]
