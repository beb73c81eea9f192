"""What the page does with an answer and with many memories: mended in place, in plain words, and never too large."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.embedding_endpoint import Endpoint
from tests.page import HOSTILE, RLO, OpenPage, PageClient, open_page, text_of
from tests.system.test_page import id_of, tags_of, walk
from tests.waiting import eventually

LONG = "很长的一句话，说的是海边的木屋和旧帆船" * 60
"""A text of 1,100 signs, three bytes each."""
MANY = {
    "memory/2026-01-01.md": "## Retain\n"
    + "".join(f"- W @Anna @Friend-{n % 90} @Guest-{n * 7 % 90}: box {n} holds {LONG}\n" for n in range(700))
    + "".join(f"- O(c=0.8) @Anna: colour {n} is the best for {LONG}\n" for n in range(40)),
    "memory/2026-02-01.md": "## Retain\n" + "".join(f"- B @Bram: lamp {n} was lit\n" for n in range(60)),
}
QUOTED = "\"><script>alert(1)</script>' onload=alert(2) "
NOTES = {
    **HOSTILE,
    "MEMORY.md": "# Memory\n\nThe boat lies in the north harbour from May on.\n",
    "memory/2026-11-10.md": "# Tuesday\n\nThe stove is green.\nTilde has a key.\n\n"
    "## Retain\n- W @Tilde: the stove was repaired by Tilde in the old cabin by the sea\n"
    "- preference @Bram: takes the night train\n"
    "- W(from=agent, scope=global) @Bram: was told of the meeting\n",
    "memory/2025-01-10.md": "## Retain\n- B @Wen: planted an apple tree\n",
    "memory/2026-11-19.md": f"## Retain\n- W: harbour {QUOTED} {{{{ 7 * 191 }}}} [x](javascript:alert(3))\n",
    "bank/world.md": "# World\n\n## Retain\n- W @Mast: the mast is of larch\n- W @Bram: is left-handed\n",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPage]:
    search = {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}}
    with open_page(tmp_path_factory.mktemp("answers"), NOTES, search=search) as running:
        with running.daemon.client() as client:
            client.add_turn("Where is the marzipan?", "In the blue tin.", session="sweets")
            client.sync()
        yield running


@pytest.fixture(scope="module")
def page(opened: OpenPage) -> Iterator[PageClient]:
    with opened.enter() as client:
        yield client


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageClient]:
    with open_page(tmp_path_factory.mktemp("crowd"), MANY) as running, running.enter() as client:
        yield client


def forms_of(text: str, action: str) -> list[dict[str, Any]]:
    """Return the fields of each form that posts to an action, as a browser would send them."""
    forms: list[dict[str, Any]] = []
    for form in re.findall(rf'<form[^>]* action="{action}"[^>]*>(.*?)</form>', text, re.DOTALL):
        fields: dict[str, Any] = {}
        for _, given in tags_of(form):
            name, value = given.get("name"), given.get("value", "")
            if name and given.get("type") == "hidden" and name in fields:
                fields[name] = [*([fields[name]] if isinstance(fields[name], str) else fields[name]), value]
            elif name:
                fields[name] = value
        forms.append(fields)
    return forms


def test_passage_is_corrected_in_its_note_and_the_undo_leads_back_to_the_question(
    opened: OpenPage, page: PageClient
) -> None:
    note = opened.daemon.workspace / "memory" / "2026-11-10.md"
    before = note.read_text()
    answer = page.get("ask", q="green stove").text
    form = next(one for one in forms_of(answer, "correct-lines") if "The stove is green." in one["old"])
    done = page.post("correct-lines", **{**form, "text": form["old"].replace("green", "blue")})
    assert "Written into memory/2026-11-10.md." in done.text
    assert note.read_text() == before.replace("stove is green", "stove is blue")
    undo = forms_of(done.text, "undo")[0]
    assert undo["back"] == "ask?q=green+stove"
    assert "Taken back" in (back := page.post("undo", **undo).text)
    assert 'value="green stove"' in back, "the question stands there still"
    assert note.read_text() == before


def test_passage_that_changed_meanwhile_is_left_alone(opened: OpenPage, page: PageClient) -> None:
    late = page.post("correct-lines", at="memory/2026-11-10.md#L3", old="The stove is grey.", text="It is purple.")
    assert (late.status_code, "says something else by now" in late.text) == (400, True)
    assert "purple" not in (opened.daemon.workspace / "memory" / "2026-11-10.md").read_text()


def test_place_that_is_open_is_corrected_there(page: PageClient) -> None:
    (form,) = forms_of(page.get("open", at="memory/2026-11-10.md#L3-L4").text, "correct-lines")
    assert form["old"] == "The stove is green.\nTilde has a key."
    whole = page.get("open", at="memory/2026-11-10.md").text
    assert "correct-lines" not in whole
    assert 'name="from"' in whole
    chosen: dict[str, Any] = {"at": "memory/2026-11-10.md", "from": "4", "to": ""}
    (form,) = forms_of(page.get("open", **chosen).text, "correct-lines")
    assert (form["at"], form["old"]) == ("memory/2026-11-10.md#L4", "Tilde has a key.")
    for nonsense in ({"from": "0"}, {"from": "999999999999"}, {"from": "4", "to": "1"}, {"from": "x"}):
        assert page.get("open", **{**chosen, **nonsense}).status_code in (200, 400, 404)


def test_passage_becomes_a_memory_that_is_pinned(opened: OpenPage, page: PageClient) -> None:
    answer = page.get("ask", q="where does the boat lie").text
    form = next(one for one in forms_of(answer, "remember"))
    form["text"] = "the boat lies in the north harbour from May on"
    done = page.post("remember", **form)
    assert "Remembered, and pinned" in done.text
    assert "north harbour" in page.get("memories", pinned="yes").text
    again = page.get("ask", q="where does the boat lie").text
    assert forms_of(again, "unpin"), "the memory is the answer now, and can be unpinned there"
    page.post("undo", **forms_of(done.text, "undo")[0])
    eventually(lambda: "north harbour" not in page.get("memories", pinned="yes").text)


def test_passage_that_is_remembered_already_is_pinned_as_it_is(page: PageClient) -> None:
    first = page.post("remember", text="the quay has nine steps")
    assert "Remembered." in first.text
    done = page.post("remember", text="the quay has nine steps", pin="yes", back="memories?q=quay")
    assert re.search(r"Pinned: it never fades|Remembered, and pinned", done.text)
    assert done.text.count(", pinned") == 1
    assert "already" in page.post("remember", text="the quay has nine steps").text
    for reply in (done, first):
        page.post("undo", **forms_of(reply.text, "undo")[0])
    eventually(lambda: "nine steps" not in page.get("memories", q="quay").text)


def test_what_was_said_is_opened_forgotten_or_answered_by_a_memory(page: PageClient) -> None:
    eventually(
        lambda: "marzipan" in text_of(page.get("ask", q="where is the blue marzipan tin")).partition("Written")[2]
    )
    answer = page.get("ask", q="where is the blue marzipan tin").text.partition("Written")[2]
    said = next(one for one in answer.split("<article") if "marzipan" in one)
    assert "correct-lines" not in said
    assert "What was said stays as it was said" in said
    for link in re.findall(r'href="((?:forget-)?conversation\?[^"]+)"', said):
        shown = page.get(link)
        assert (shown.status_code, "sweets" in shown.text) == (200, True), link
    done = page.post("remember", text="the marzipan is in the red tin", back="ask?q=marzipan")
    assert "in the red tin" in done.text.partition("Written")[0]
    page.post("undo", **forms_of(done.text, "undo")[0])


def test_undo_of_a_correction_leads_back_to_the_question(opened: OpenPage, page: PageClient) -> None:
    answer = page.post("correct", id=id_of(opened, "night train"), text="takes the bus", back="ask?q=night+train")
    undo = forms_of(answer.text, "undo")[0]
    assert undo["back"] == "ask?q=night+train"
    page.post("undo", **undo)


def test_what_no_note_of_a_day_states_has_no_day(opened: OpenPage, page: PageClient) -> None:
    for path in ("memories?q=mast", "ask?q=of+what+is+the+mast", f"memory?id={id_of(opened, 'mast')}"):
        text = page.get(path).text
        assert "of larch" in text
        assert "<time" not in text.partition("of larch")[2].partition("</article>")[0], path
    assert "First written" not in page.get("memory", id=id_of(opened, "mast")).text
    assert "Without a day" in page.get("entity", name="Mast").text
    assert "last named" not in page.get("entities", q="Mast").text
    # what was undone a moment ago may still be read
    eventually(lambda: "<h3>" in page.get("entity", name="Bram").text)
    days = re.findall(r"<h3>(.*?)</h3>", page.get("entity", name="Bram").text)
    assert days[-1] == "Without a day", "what has no day stands behind all others"
    assert len(days) > 1
    assert "<time" in page.get("memories", q="stove").text


def test_memory_is_titled_by_what_it_says(opened: OpenPage, page: PageClient) -> None:
    text = page.get("memory", id=id_of(opened, "repaired by Tilde")).text
    assert "<title>the stove was repaired by Tilde in the old cabin by the sea · memoryd</title>" in text
    assert re.search(r"<h1[^>]*>the stove was repaired by Tilde", text)


@pytest.mark.parametrize("path", ["ask?q=stove", "ask?q=zeppelin+stove", "memory", "entity?name=Wen"])
def test_no_page_speaks_of_how_answers_are_ranked(opened: OpenPage, page: PageClient, path: str) -> None:
    text = text_of(page.get(f"memory?id={id_of(opened, 'Tilde')}" if path == "memory" else path)).lower()
    for word in (
        "deviation",
        "noise",
        "cosine",
        "beyond k",
        "maxresults",
        "minscore",
        "composite",
        "bm25",
        "lexical",
        "provider",
    ):
        assert word not in text, word


FILTERED = {
    "q=apple": "apple tree",
    "tier=working": "repaired by Tilde",
    "tier=peripheral": "apple tree",
    "kind=preference": "night train",
    "entity=Wen": "apple tree",
    "scope=global": "was told of the meeting",
    "age=-365d": "apple tree",
    "age=30d": "repaired by Tilde",
    "author=agent": "was told of the meeting",
}


@pytest.mark.parametrize("query", FILTERED)
def test_each_filter_keeps_what_it_says_and_says_how_to_take_it_away(page: PageClient, query: str) -> None:
    answer, all_of = page.get(f"memories?{query}"), page.get("memories")
    assert FILTERED[query] in answer.text
    assert 0 < answer.text.count('class="item choose"') < all_of.text.count('class="item choose"')
    assert '<a href="memories">All</a>' in answer.text


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("memories?q=zeppelin", 'href="ask?q=zeppelin"'),
        ("memories?entity=Nobody", "Take a filter away"),
        ("memories?tier=core&author=import", "Take a filter away"),
        ("entities?q=zeppelin", "Look for a part of it"),
        ("ask?q=zeppelin", "Ask in other words"),
    ],
)
def test_empty_page_says_what_to_do_next(page: PageClient, path: str, advice: str) -> None:
    assert advice in page.get(path).text


@pytest.mark.parametrize(
    ("query", "count"), [("entity=Bram", 60), ("kind=experience", 60), ("q=lamp", 60), ("author=user&q=lit", 60)]
)
def test_filtered_lists_are_paged_without_a_gap_or_a_double(crowd: PageClient, query: str, count: int) -> None:
    pages = list(walk(crowd, f"memories?{query}"))
    found = [one for text in pages for one in re.findall(r"lamp \d+ was lit</p>", text)]
    assert len(pages) == 3
    assert len(found) == len(set(found)) == count


@pytest.mark.parametrize(
    "path",
    [
        "memories",
        "memories?q=box",
        "memories?entity=Anna",
        "ask?q=box",
        "ask?q=Anna",
        "ask?q=colour+best",
        "entities",
        "entity?name=Anna",
        "entity?name=Friend-1",
    ],
)
def test_page_of_very_much_is_small(crowd: PageClient, path: str) -> None:
    answer = crowd.get(path)
    assert answer.status_code == 200
    assert len(answer.content) < 100_000


def test_those_that_an_entity_is_named_with_go_on_without_a_gap_or_a_double(crowd: PageClient) -> None:
    first = crowd.get("entity", name="Anna").text
    pages = list(walk(crowd, "entity?name=Anna"))
    names = [one for text in pages for one in re.findall(r'<th scope="row"><a [^>]*>([^<]+)</a>', text)]
    assert len(pages) == 4
    assert len(names) == len(set(names)) == 180
    assert re.search(r"The 59 of 180 that most memories name with it", first)


def test_all_that_was_left_out_is_shown_with_why(crowd: PageClient) -> None:
    text = crowd.get("ask", q="box").text
    (told,) = re.findall(r"Left out, and why \((\d+)\)", text)
    cut = text.partition("Left out, and why")[2]
    assert int(told) == cut.count("<article") > 0
    assert "Others answer better." in cut


def test_more_than_one_page_of_memories_is_forgotten_as_it_was_shown_and_the_rest_is_told(crowd: PageClient) -> None:
    targets = [
        one for text in walk(crowd, "memories?q=lamp") for one in re.findall(r'name="target" value="([^"]+)"', text)
    ][:30]
    plan = crowd.get("forget", target=targets, back="memories?q=lamp")
    assert "You chose 30: these are the first 25. The other 5 stay" in text_of(plan)
    assert plan.text.count("<article") == 25
    (form,) = [one for one in forms_of(plan.text, "forget") if "rest" in one]
    receipt = crowd.post("forget", **form)
    assert "Lines of notes 25" in text_of(receipt)
    assert "Look at the other 5" in receipt.text
    assert len(re.findall(r'name="target" value="([^"]+)"', receipt.text)) == 5
    (left,) = re.findall(r"<h1>Memories <span[^>]*>(\d+)", crowd.get("memories", q="lamp").text)
    assert int(left) == 35
    crowd.post("undo", id=re.findall(r'name="id" value="(\d+)"', receipt.text))


@pytest.mark.parametrize("words", ["</p></article></main>", "turned round", "quotes", "onload"])
def test_hostile_memory_stays_text_on_every_page_of_it(opened: OpenPage, page: PageClient, words: str) -> None:
    name = id_of(opened, words)
    paths = (f"memory?id={name}", f"forget?target={name}", f"ask?q={words}", f"ask?q={words}&whole=yes")
    for path in (*paths, "entities", f"memories?q={words}", "open?at=memory/2026-11-20.md%23L13"):
        check_harmless(answer := page.get(path))
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_hostile_queries_and_names_stay_text(page: PageClient) -> None:
    text = f"harbour {QUOTED}{RLO}"
    for path, field in (("ask", "q"), ("memories", "q"), ("memories", "entity"), ("entities", "q"), ("entity", "name")):
        query: dict[str, Any] = {field: text}
        check_harmless(page.get(path, **query))
    check_harmless(page.get("ask?page=x&self=y&q=harbour"))
    done = page.post("remember", text=text, back=f"ask?q={QUOTED}")
    check_harmless(done)
    assert page.post("undo", **forms_of(done.text, "undo")[0]).status_code == 200


def check_harmless(answer: Any) -> None:
    assert answer.status_code in (200, 404)
    assert len(answer.content) < 100_000
    tags = tags_of(answer.text)
    assert [given["src"] for tag, given in tags if tag == "script"] == ["/web/static/page.js"]
    assert {tag for tag, _ in tags}.isdisjoint({"iframe", "b", "object", "embed", "style"})
    assert not [name for _, given in tags for name in given if name.startswith("on") or name == "style"]
    assert not [given["href"] for _, given in tags if re.match(r"(javascript|data):", given.get("href", ""))]
    # a field has what is sent again, sign for sign
    assert RLO not in re.sub(r'value="[^"]*"|<textarea.*?</textarea>', "", answer.text, flags=re.DOTALL)
    assert "1337" not in answer.text
    for tag in ("main", "article", "form", "details", "section"):
        assert answer.text.count(f"<{tag}") == answer.text.count(f"</{tag}>"), tag


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageClient]:
    """The page of a daemon whose model takes a second for each question."""
    home: Path = tmp_path_factory.mktemp("slow")
    with Endpoint(home) as endpoint:
        access = {"baseUrl": endpoint.url, "apiKey": "k"}
        search = {"provider": "openai", "model": "test-model", "remote": access}
        with open_page(home, {"memory/2026-11-10.md": NOTES["memory/2026-11-10.md"]}, search=search) as running:
            running.daemon.client().sync(wait="embedded")
            endpoint.kill()
            endpoint.delay = 1.0
            endpoint.start()
            with running.enter() as client:
                yield client


def test_answer_waits_for_no_model_and_leads_to_all_of_it(slow: PageClient) -> None:
    soon = slow.get("ask", q="the stove is green")
    assert "The stove is green." in text_of(soon), "what words know is there at once"
    assert "in meaning" not in soon.text
    link = re.search(r'href="(ask\?[^"]+)" data-later', soon.text)
    assert link is not None
    whole = slow.get(link[1].replace("&amp;", "&")).text
    assert "in meaning" in whole
    assert "data-later" not in whole


def test_further_down_a_note_is_read_as_a_whole(opened: OpenPage, page: PageClient) -> None:
    lines = "".join(f"line {number} of the saga\n" for number in range(1, 301))
    (opened.daemon.workspace / "memory" / "saga.md").write_text(f"# Saga\n{lines}")
    with opened.daemon.client() as client:
        client.sync()
    address, seen = "open?at=memory%2Fsaga.md", set[int]()
    while address:
        text = page.get(address).text
        assert "<mark>" not in text
        seen |= {int(number) for number in re.findall(r"line (\d+) of the saga", text)}
        further = re.search(r'<a rel="next" href="([^"]*)">Further down', text)
        address = html.unescape(further[1]) if further else ""
    assert seen == set(range(1, 301))


def test_note_of_windows_shows_no_end_of_a_line(opened: OpenPage, page: PageClient) -> None:
    note = opened.daemon.workspace / "memory" / "2026-11-05.md"
    note.write_bytes(b"# Thursday\r\n\r\nThe velocipede is blue.\r\nIt has a bell.\r\n")
    with opened.daemon.client() as client:
        client.sync()
    for text in (
        page.get("ask", q="blue velocipede").text,
        page.get("open", at="memory/2026-11-05.md").text,
        page.get("forget", target="memory/2026-11-05.md#L3-L4").text,
    ):
        assert "velocipede" in text
        assert "[U+000D]" not in text


def test_day_on_which_a_memory_leaves_its_tier_is_named(opened: OpenPage, page: PageClient) -> None:
    text = page.get("memory", id=id_of(opened, "left-handed")).text
    assert re.search(r"In \d+ days?, on <time>\d{4}-\d\d-\d\d</time>, it goes to", text)


def test_question_that_was_asked_before_is_no_answer_to_itself(opened: OpenPage, page: PageClient) -> None:
    with opened.daemon.client() as client:
        client.turn("Who repaired our spinet?", session_key="agent:main:chat:direct:spinet")
        (opened.daemon.workspace / "memory" / "2026-11-06.md").write_text("# Friday\n\nLars repaired our spinet.\n")
        client.sync()
    eventually(lambda: "asks the same, without an answer" in page.get("ask", q="Who repaired our spinet?").text)
    text = page.get("ask", q="Who repaired our spinet?", whole="yes").text
    answered = text.partition("Only near")[0]
    assert "Lars repaired our spinet" in answered
    assert "Who repaired our spinet?</p>" not in answered


def test_damaged_file_of_a_conversation_is_named_with_the_reason(opened: OpenPage, page: PageClient) -> None:
    with opened.daemon.client() as client:
        client.add_turn("Where is the nougat?", "In the red tin.", session="nougat")
    (file,) = opened.daemon.workspace.rglob("nougat.json")
    whole = file.read_bytes()
    file.write_bytes(whole[:40])
    try:
        eventually(lambda: "nougat.json: " in text_of(page.get("conversations")))
        assert "Not in this list: " in text_of(page.get("conversations"))
    finally:
        file.write_bytes(whole)
    eventually(lambda: "Not in this list" not in text_of(page.get("conversations")))
