"""Several tabs of one session at the page: each keeps its agent, what it showed, and what it did."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.page import OpenPage, open_page
from tests.system.test_page_answers import forms_of

RETAIN = "## Retain\n"
NOTES = {"memory/2026-11-10.md": f"{RETAIN}- W @Tilde: the stove is green\n- W @Bram: the boat is red\n"}


@pytest.fixture
def opened(tmp_path: Any) -> Iterator[OpenPage]:
    """Two agents, each with notes of its own; the second is the default one."""
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


def test_page_is_of_the_agent_that_it_says_and_each_tab_keeps_its_own(opened: OpenPage) -> None:
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


def test_agent_that_is_not_known_leads_to_those_that_are(opened: OpenPage) -> None:
    with opened.enter() as tab:
        answer = tab.of("third").get("memories")
        assert (answer.status_code, "Configured agents: first, second." in answer.text) == (404, True)
        assert "<option>second" in answer.text
        chosen = tab.of("third").post("agent", agent="second")
        assert (chosen.status_code, chosen.url.path.endswith("/second/ask")) == (200, True)
        assert tab.http.get(tab.base.rpartition("/")[0] + "/FIRST", headers=tab._headers({})).status_code == 303


def test_file_whose_name_has_a_line_feed_is_itself_alone(opened: OpenPage) -> None:
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
        # as a browser writes it
        receipt = tab.post("forget", **{**form, "target": form["target"].replace("\n", "\r\n")})
        assert "Forgotten" in receipt.text
        assert core.read_text() == "# Core\n\nkeep this\n"
        assert "quokka" not in odd.read_text()


def test_notice_is_of_the_page_that_acted_and_is_shown_once(opened: OpenPage) -> None:
    with opened.enter() as session:
        tab = session.of("first")
        first = tab.post("remember", follow=False, text="the oars are of ash", back="told?session=x")
        second = tab.post("remember", follow=False, text="the sail is brown")
        assert "Undo" not in tab.get("ask").text, "another tab"
        answers = [tab.get(one.headers["location"]).text for one in (second, first)]
        shown = [forms_of(text, "undo")[0] for text in answers]
        assert [one["back"] for one in shown] == ["ask", "told?session=x"]
        assert "Taken back" in tab.post("undo", **shown[1]).text
        kept = tab.get("memories").text
        assert ("ash" in kept, "sail is brown" in kept) == (False, True)
        assert "Undo" not in tab.get(first.headers["location"]).text, "loaded again"
