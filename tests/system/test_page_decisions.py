"""The page over HTTP: what the agent was shown, decisions, entities and conversations."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page import HOSTILE, RLO, OpenPage, PageClient, open_page, text_of
from tests.system.test_page import check_harmless, walk
from tests.system.test_page_answers import forms_of
from tests.transcripts_written import append, asked

KEY = "agent:main:chat:direct:ann"
SESSION = "session:chat-ann-20261101"
HOSTILE_NAME = 'Harbour" onmouseover="alert(7)'
NOTES = {
    **HOSTILE,
    "MEMORY.md": "# Memory\n\nThe boat lies in the north harbour from May on.\n",
    "memory/2026-11-08.md": "## Retain\n- O(c=0.7) @Wen: green tea is better than coffee\n"
    f"- W @[{HOSTILE_NAME}] @Wen: painted the pier {RLO}white\n",
    "memory/2026-11-10.md": "## Retain\n- W @Tilde @Wen: the stove was repaired by Tilde\n"
    "- W @Karmesin: The office printer is a Brother HL-2350.\n"
    "- W(from=agent) @Karmesin: The office printer is an HP M209.\n"
    "- W @Zinnober: The kettle is a Bosch TWK.\n- W(from=agent) @Zinnober: The kettle is a Philips HD9350.\n",
    "memory/2026-10-01.md": "## Retain\n"
    + "".join(f"- W @Wen @[Guest {n}]: guest number {n} came\n" for n in range(70)),
    "bank/opinions.md": "# Opinions\n",
    "bank/world.md": "# World\n",
    "bank/entities/wen.md": "# Wen\n\nA friend.\n",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPage]:
    home = tmp_path_factory.mktemp("decided")
    (home / "talks").mkdir()
    append(home / "talks" / "a.jsonl", *(asked(f"What is number {n}? <b>harbour</b>") for n in range(150)))
    talks: dict[str, object] = {
        "search": {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}},
        "memory": {"sessions": {"folders": [{"path": str(home / "talks"), "agent": "main", "format": "openclaw"}]}},
    }
    with open_page(home, NOTES, **talks) as running, running.daemon.client() as client:  # type: ignore[arg-type]  # a table of values
        opinion = next(row for row in client.opinions(entity="Wen")["opinions"] if "green tea" in row["statement"])
        named = opinion["id"][:8]
        client.retain(f"W(supports={named}) @Wen: ordered green tea again")
        client.retain(f"W(contradicts={named}) @Wen: had two coffees at breakfast")
        client.reflect()
        for minute, question in enumerate(
            ("Who repaired the stove?", "Where does the boat lie?", "<b>Harbour</b> pier?")
        ):
            client.turn(question, session_key=KEY, at=f"2026-11-01T10:0{minute}:00")
        for number in range(30):
            client.add_turn(f"Question {number}?", session=f"old-{number}", timestamp=f"2026-09-01T10:{number:02}:00")
        client.sync_sessions()
        yield running


@pytest.fixture(scope="module")
def page(opened: OpenPage) -> Iterator[PageClient]:
    with opened.enter() as client:
        yield client


def test_told_lists_each_part_with_verdict_and_cost(opened: OpenPage, page: PageClient) -> None:
    text = text_of(page.get("told"))
    for text_part in (
        "Who repaired the stove?",
        "the stove was repaired by Tilde",
        "answers",
        "recalled",
        "stable block, new",
    ):
        assert text_part in text
    assert "the same since question 1" in text
    assert page.get("told").text.count("<article") == 3
    assert "Nothing is noted of this session." in text_of(page.get("told", session="another"))


def test_part_is_judged_and_the_judgement_withdrawn(opened: OpenPage, page: PageClient) -> None:
    with opened.daemon.client() as client:
        turn = client.told()["turns"][-1]
        part = next(shown for shown in turn["parts"] if shown["content"] == "the stove was repaired by Tilde")
        fields: dict[str, Any] = {"number": turn["number"], "name": part["name"], "id": part["id"], "back": "told"}

        def judged() -> list[str | None]:
            parts = client.told()["turns"][-1]["parts"]
            return [shown["judgement"] for shown in parts if shown["name"] == part["name"]]

        assert "Noted as noise" in page.post("judge", judgement="noise", **fields).text
        assert judged() == ["noise"]
        page.post("judge", judgement="", **fields)
        assert judged() == [None]
        wrong = page.post("judge", judgement="wrong", follow=False, **fields)
        to = re.sub("&notice=[^#]+", "", wrong.headers["location"])
        assert to == f"memory?id={part['id']}#now-{part['id']}", "the page where it is corrected"
        assert f'id="now-{part["id"]}"' in page.get(wrong.headers["location"]).text
        passage = next(shown for row in client.told()["turns"] for shown in row["parts"] if shown["id"] is None)
        number = next(row["number"] for row in client.told()["turns"] if passage in row["parts"])
        written = page.post("judge", judgement="wrong", number=number, name=passage["name"])
        assert "where it is written" in written.text
    missing = page.post("judge", judgement="noise", number=turn["number"], name="nothing")
    assert (missing.status_code, "/v1/" in missing.text) == (404, False)
    assert page.post("judge", judgement="nonsense", **fields).status_code == 400


def test_disagreement_is_settled_and_undone(opened: OpenPage, page: PageClient) -> None:
    with opened.daemon.client() as client:
        pairs = [pair for pair in client.disagreements()["disagreements"] if "printer" in pair["newer"]["text"]]
        text = text_of(page.get("disagreements"))
        assert "The office printer is an HP M209." in text
        assert "an agent said it" in text
        answer = page.post("settle", pair=pairs[0]["id"], keep="newer")
        assert "The newer one holds" in answer.text
        assert not [pair for pair in client.disagreements()["disagreements"] if "printer" in pair["newer"]["text"]]
        numbers = re.findall(r'name="id" value="(\d+)"', answer.text)
        assert "Taken back" in page.post("undo", id=numbers).text
    assert page.post("settle", pair=pairs[0]["id"], keep="nonsense").status_code == 400


def test_both_sides_of_a_disagreement_are_kept(opened: OpenPage, page: PageClient) -> None:
    with opened.daemon.client() as client:
        (pair,) = [row for row in client.disagreements()["disagreements"] if "kettle" in row["newer"]["text"]]
        assert "Both hold" in page.post("settle", pair=pair["id"], keep="both").text
        assert "kettle" not in page.get("disagreements").text


def test_proposals_are_accepted_one_by_one_and_rejected_together(opened: OpenPage, page: PageClient) -> None:
    with opened.daemon.client() as client:
        proposals = client.proposals(state="open")["proposals"]
        assert len(proposals) > 2
        text = page.get("disagreements").text
        assert '<p class="add">' in text
        assert "added: " in text
        first = next(proposal for proposal in proposals if proposal["path"] == "bank/entities/wen.md")
        accepted = page.post("decide", proposal=first["id"], verdict="accept").text
        assert "1 proposal was accepted" in accepted
        assert "memoryd:begin" in (opened.daemon.workspace / first["path"]).read_text()
        page.post("undo", id=re.findall(r'name="id" value="(\d+)"', accepted))
        assert "memoryd:begin" not in (opened.daemon.workspace / first["path"]).read_text()
        again = client.proposal(first["id"])
        assert (again["state"], again["decidedAt"]) == ("open", None), "the decision is open again"
        assert first["id"] in page.get("disagreements").text
        assert "1 proposal was accepted" in page.post("decide", proposal=first["id"], verdict="accept").text
        rest = f"{len(proposals) - 1} proposals were rejected"
        assert page.post("decide", verdict="reject").status_code == 400, "no form sends this"
        form = forms_of(page.get("disagreements").text, "decide")[-1]
        assert sorted(form["proposal"]) == sorted(proposal["id"] for proposal in proposals if proposal is not first)
        assert rest in page.post("decide", **{**form, "verdict": "reject"}).text
        assert client.proposals(state="open")["total"] == 0
    assert "Nothing is proposed." in page.get("disagreements").text
    assert page.post("decide", verdict="nonsense").status_code == 400
    assert page.post("decide", proposal="0123456789ab", verdict="accept").status_code == 404


def test_entities_are_paged_and_searched(page: PageClient) -> None:
    names = [name for text in walk(page, "entities") for name in re.findall(r'href="entity\?name=([^"]+)"', text)]
    assert len(names) == len(set(names)) > 70
    assert names[0] == "Wen"
    assert page.get("entities", q="tild").text.count("<article") == 1
    assert "has that name" in page.get("entities", q="nobody").text


def test_entity_shows_opinions_with_evidence_and_links(page: PageClient) -> None:
    answer = page.get("entity", name="Wen")
    text = text_of(answer)
    for evidence in ("green tea is better than coffee", "ordered green tea again", "had two coffees at breakfast"):
        assert evidence in text
    assert "from 70 % to 75 %" in text
    assert '<circle class="dot reinforce"' in answer.text
    assert '<circle class="dot contradict"' in answer.text
    assert answer.text.count('<circle class="dot"') == 59, "sixty with the one in the middle"
    assert answer.text.count('<th scope="row">') == 59
    assert "The 59 of 72 that most memories name with it" in text
    assert 'href="memories?entity=Wen"' in answer.text
    assert len(answer.content) < 100_000
    assert page.get("entity", name="nobody").status_code == 404


def test_entities_are_merged_and_split(page: PageClient) -> None:
    merged = page.post("merge", alias="Guest 3", into="Wen")
    assert "Guest 3 is another name of Wen now" in merged.text
    assert "Guest 3" in text_of(page.get("entity", name="Wen")).partition("Names")[2]
    assert "an entity of its own again" in page.post("split", alias="Guest 3", back="entity?name=Wen").text
    assert page.post("split", alias="Guest 3", back="entity?name=Wen").status_code == 404


def test_conversations_are_paged_read_and_made_private(opened: OpenPage, page: PageClient) -> None:
    found = [
        name for text in walk(page, "conversations") for name in re.findall(r'href="conversation\?id=([^"]+)"', text)
    ]
    assert len(found) == len(set(found)) == 32
    text = text_of(page.get("conversation", id=SESSION))
    assert "Who repaired the stove?" in text
    assert "significance" in text
    assert "No answer is kept." in text
    page.post("private", id="session:old-3", remember="no")
    assert "private" in page.get("conversations").text
    assert page.get("conversation", id="session:old-3").status_code == 404
    page.post("private", id="session:old-3", remember="yes")
    assert page.get("conversation", id="session:old-3").status_code == 200


def test_transcript_is_read_in_pages(page: PageClient) -> None:
    pages = list(walk(page, "conversation?id=sessions/main/a.jsonl"))
    lines = [number for text in pages for number in re.findall(r"What is number (\d+)\?", text)]
    assert len(pages) == 2
    assert lines == [str(number) for number in range(150)]


def test_paging_of_conversations_is_stable_when_new_ones_arrive(opened: OpenPage, page: PageClient) -> None:
    first = page.get("conversations").text
    link = re.search(r'rel="next" href="([^"]+)"', first)
    assert link is not None
    rest = page.get(link[1].replace("&amp;", "&")).text
    with opened.daemon.client() as client:
        # the last of the first page becomes the first of all
        client.add_turn("Once more?", session="old-7", timestamp="2026-11-01T23:00:00")
    assert page.get(link[1].replace("&amp;", "&")).text.count("<article") == rest.count("<article")
    assert page.get("conversations?after=x").status_code == 400


def test_conversation_is_forgotten_after_a_preview(opened: OpenPage, page: PageClient) -> None:
    plan = page.get("forget-conversation", id="session:old-4", sure="yes")
    assert "cannot be undone" in plan.text
    assert page.get("conversation", id="session:old-4").status_code == 200, "the preview forgets nothing"
    receipt = page.post("forget-conversation", id="session:old-4")
    assert "<h1>Forgotten</h1>" in receipt.text
    assert "backups and snapshots" in receipt.text
    assert page.get("conversation", id="session:old-4").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "told",
        "disagreements",
        "entities?q=harbour",
        "entity?name=Wen",
        "entity?name=Harbour%22%20onmouseover%3D%22alert(7)",
        "conversations",
        f"conversation?id={SESSION}",
        "conversation?id=sessions/main/a.jsonl",
    ],
)
def test_hostile_names_and_questions_stay_text(page: PageClient, path: str) -> None:
    answer = page.get(path)
    assert answer.status_code == 200
    check_harmless(answer)


def test_disagreements_are_paged_without_gaps(tmp_path: Path) -> None:
    lines = "".join(
        f"- W @Thing{n}: The kettle of house {n} is a Bosch {n}.\n"
        f"- W(from=agent) @Thing{n}: The kettle of house {n} is a Philips {n}.\n"
        for n in range(25)
    )
    with open_page(tmp_path, {"memory/2026-11-10.md": f"## Retain\n{lines}"}) as running, running.enter() as page:
        pages = list(walk(page, "disagreements"))
        found = [re.findall(r'name="pair" value="([\w-]+)"', text) for text in pages]
        assert [len(pairs) for pairs in found] == [20, 5]
        assert len(set(found[0] + found[1])) == 25
        link = re.search(r'rel="next" href="([^"]+)"', pages[0])
        assert link is not None
        # the pair before the second page is settled on the first
        second = link[1].replace("&amp;", "&")
        answer = page.post("settle", pair=found[0][-1], keep="both", back=second)
        assert "Both hold" in answer.text
        assert set(found[1]) <= set(re.findall(r'name="pair" value="([\w-]+)"', page.get(second).text))
        assert "The first disagreements" in page.get(second).text


@pytest.mark.parametrize("path", ["told?before=x", "conversation?id=nothing", "conversation?id=session:none", "entity"])
def test_invalid_request_gets_a_page_with_the_error(page: PageClient, path: str) -> None:
    answer = page.get(path)
    assert answer.status_code in (400, 404)
    assert "That cannot be shown" in answer.text
