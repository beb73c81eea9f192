"""Answers and long lists on the page: corrected in place, in plain words, and limited in size."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.embedding_endpoint import Endpoint
from tests.page import HOSTILE, RLO, OpenPage, PageClient, open_page, text_of
from tests.system.test_page import check_harmless, id_of, tags_of, walk
from tests.waiting import eventually

LONG = "很长的一句话，说的是海边的木屋和旧帆船" * 60
"""1,100 characters of three bytes each."""
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
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageClient]:
    with open_page(tmp_path_factory.mktemp("crowd"), MANY) as running, running.enter() as client:
        yield client


def forms_of(text: str, action: str) -> list[dict[str, Any]]:
    """Return the fields of each form with an action, as a browser would send them."""
    forms: list[dict[str, Any]] = []
    for form in re.findall(rf'<form[^>]* action="{action}"[^>]*>(.*?)</form>', text, re.DOTALL):
        fields: dict[str, Any] = {}
        for _, attributes in tags_of(form):
            name, value = attributes.get("name"), attributes.get("value", "")
            if name and attributes.get("type") == "hidden" and name in fields:
                fields[name] = [*([fields[name]] if isinstance(fields[name], str) else fields[name]), value]
            elif name:
                fields[name] = value
        forms.append(fields)
    return forms


def test_passage_is_corrected_in_its_note_and_undo_returns_to_the_question(opened: OpenPage, page: PageClient) -> None:
    note = opened.daemon.workspace / "memory" / "2026-11-10.md"
    before = note.read_text()
    answer = page.get("ask", q="green stove").text
    form = next(form for form in forms_of(answer, "correct-lines") if "The stove is green." in form["old"])
    done = page.post("correct-lines", **{**form, "text": form["old"].replace("green", "blue")})
    assert "Written into memory/2026-11-10.md." in done.text
    assert note.read_text() == before.replace("stove is green", "stove is blue")
    undo = forms_of(done.text, "undo")[0]
    assert undo["back"] == "ask?q=green+stove"
    assert "Taken back" in (back := page.post("undo", **undo).text)
    assert 'value="green stove"' in back, "the question is still there"
    assert note.read_text() == before


def test_passage_changed_meanwhile_is_not_corrected(opened: OpenPage, page: PageClient) -> None:
    late = page.post("correct-lines", at="memory/2026-11-10.md#L3", old="The stove is grey.", text="It is purple.")
    assert (late.status_code, "says something else by now" in late.text) == (400, True)
    assert "purple" not in (opened.daemon.workspace / "memory" / "2026-11-10.md").read_text()


def test_opened_lines_can_be_corrected(page: PageClient) -> None:
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


def test_passage_becomes_a_pinned_memory(opened: OpenPage, page: PageClient) -> None:
    answer = page.get("ask", q="where does the boat lie").text
    form = next(iter(forms_of(answer, "remember")))
    form["text"] = "the boat lies in the north harbour from May on"
    done = page.post("remember", **form)
    assert "Remembered, and pinned" in done.text
    assert "north harbour" in page.get("memories", pinned="yes").text
    again = page.get("ask", q="where does the boat lie").text
    assert forms_of(again, "unpin"), "the memory is now the answer, with a button to unpin it"
    page.post("undo", **forms_of(done.text, "undo")[0])
    eventually(lambda: "north harbour" not in page.get("memories", pinned="yes").text)


def test_passage_remembered_before_is_only_pinned(page: PageClient) -> None:
    first = page.post("remember", text="the quay has nine steps")
    assert "Remembered." in first.text
    done = page.post("remember", text="the quay has nine steps", pin="yes", back="memories?q=quay")
    assert re.search(r"Pinned: it never fades|Remembered, and pinned", done.text)
    assert done.text.count(", pinned") == 1
    assert "already" in page.post("remember", text="the quay has nine steps").text
    for reply in (done, first):
        page.post("undo", **forms_of(reply.text, "undo")[0])
    eventually(lambda: "nine steps" not in page.get("memories", q="quay").text)


def test_conversation_in_an_answer_is_opened_or_corrected_by_a_memory(page: PageClient) -> None:
    eventually(
        lambda: "marzipan" in text_of(page.get("ask", q="where is the blue marzipan tin")).partition("Written")[2]
    )
    answer = page.get("ask", q="where is the blue marzipan tin").text.partition("Written")[2]
    hit = next(article for article in answer.split("<article") if "marzipan" in article)
    assert "correct-lines" not in hit
    assert "What was said stays as it was said" in hit
    for link in re.findall(r'href="((?:forget-)?conversation\?[^"]+)"', hit):
        shown = page.get(link)
        assert (shown.status_code, "sweets" in shown.text) == (200, True), link
    done = page.post("remember", text="the marzipan is in the red tin", back="ask?q=marzipan")
    assert "in the red tin" in done.text.partition("Written")[0]
    page.post("undo", **forms_of(done.text, "undo")[0])


def test_undo_of_a_correction_returns_to_the_question(opened: OpenPage, page: PageClient) -> None:
    answer = page.post("correct", id=id_of(opened, "night train"), text="takes the bus", back="ask?q=night+train")
    undo = forms_of(answer.text, "undo")[0]
    assert undo["back"] == "ask?q=night+train"
    page.post("undo", **undo)


def test_memory_without_a_dated_log_has_no_day(opened: OpenPage, page: PageClient) -> None:
    for path in ("memories?q=mast", "ask?q=of+what+is+the+mast", f"memory?id={id_of(opened, 'mast')}"):
        text = page.get(path).text
        assert "of larch" in text
        assert "<time" not in text.partition("of larch")[2].partition("</article>")[0], path
    assert "First written" not in page.get("memory", id=id_of(opened, "mast")).text
    assert "Without a day" in page.get("entity", name="Mast").text
    assert "last named" not in page.get("entities", q="Mast").text
    # an undone change may still be indexed
    eventually(lambda: "<h3>" in page.get("entity", name="Bram").text)
    days = re.findall(r"<h3>(.*?)</h3>", page.get("entity", name="Bram").text)
    assert days[-1] == "Without a day", "memories without a day come last"
    assert len(days) > 1
    assert "<time" in page.get("memories", q="stove").text


def test_title_of_a_memory_is_its_text(opened: OpenPage, page: PageClient) -> None:
    text = page.get("memory", id=id_of(opened, "repaired by Tilde")).text
    assert "<title>the stove was repaired by Tilde in the old cabin by the sea · memoryd</title>" in text
    assert re.search(r"<h1[^>]*>the stove was repaired by Tilde", text)


@pytest.mark.parametrize("path", ["ask?q=stove", "ask?q=zeppelin+stove", "memory", "entity?name=Wen"])
def test_pages_avoid_words_of_ranking(opened: OpenPage, page: PageClient, path: str) -> None:
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
def test_filter_applies_and_can_be_removed(page: PageClient, query: str) -> None:
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
def test_empty_page_gives_advice(page: PageClient, path: str, advice: str) -> None:
    assert advice in page.get(path).text


@pytest.mark.parametrize(
    ("query", "count"), [("entity=Bram", 60), ("kind=experience", 60), ("q=lamp", 60), ("author=user&q=lit", 60)]
)
def test_filtered_lists_are_paged_without_gaps_or_duplicates(large: PageClient, query: str, count: int) -> None:
    pages = list(walk(large, f"memories?{query}"))
    found = [lamp for text in pages for lamp in re.findall(r"lamp \d+ was lit</p>", text)]
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
def test_page_with_much_content_is_small(large: PageClient, path: str) -> None:
    answer = large.get(path)
    assert answer.status_code == 200
    assert len(answer.content) < 100_000


def test_linked_entities_are_paged_without_gaps_or_duplicates(large: PageClient) -> None:
    first = large.get("entity", name="Anna").text
    pages = list(walk(large, "entity?name=Anna"))
    names = [name for text in pages for name in re.findall(r'<th scope="row"><a [^>]*>([^<]+)</a>', text)]
    assert len(pages) == 4
    assert len(names) == len(set(names)) == 180
    assert re.search(r"The 59 of 180 that most memories name with it", first)


def test_all_left_out_hits_are_shown_with_reasons(large: PageClient) -> None:
    text = large.get("ask", q="box").text
    (count,) = re.findall(r"Left out, and why \((\d+)\)", text)
    cut = text.partition("Left out, and why")[2]
    assert int(count) == cut.count("<article") > 0
    assert "Others answer better." in cut


def test_at_most_a_page_of_memories_is_forgotten_at_once(large: PageClient) -> None:
    targets = [
        target
        for text in walk(large, "memories?q=lamp")
        for target in re.findall(r'name="target" value="([^"]+)"', text)
    ][:30]
    plan = large.get("forget", target=targets, back="memories?q=lamp")
    assert "You chose 30: these are the first 25. The other 5 stay" in text_of(plan)
    assert plan.text.count("<article") == 25
    (form,) = [form for form in forms_of(plan.text, "forget") if "rest" in form]
    receipt = large.post("forget", **form)
    assert "Lines of notes 25" in text_of(receipt)
    assert "Look at the other 5" in receipt.text
    assert len(re.findall(r'name="target" value="([^"]+)"', receipt.text)) == 5
    (left,) = re.findall(r"<h1>Memories <span[^>]*>(\d+)", large.get("memories", q="lamp").text)
    assert int(left) == 35
    large.post("undo", id=re.findall(r'name="id" value="(\d+)"', receipt.text))


@pytest.mark.parametrize("words", ["</p></article></main>", "turned round", "quotes", "onload"])
def test_hostile_memory_stays_text_on_all_its_pages(opened: OpenPage, page: PageClient, words: str) -> None:
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


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageClient]:
    """Return the page of a daemon whose model takes a second for each question."""
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


def test_answer_does_not_wait_for_the_model_but_links_to_its_results(slow: PageClient) -> None:
    soon = slow.get("ask", q="the stove is green")
    assert "The stove is green." in text_of(soon), "keyword hits are there at once"
    assert "in meaning" not in soon.text
    link = re.search(r'href="(ask\?[^"]+)" data-later', soon.text)
    assert link is not None
    whole = slow.get(link[1].replace("&amp;", "&")).text
    assert "in meaning" in whole
    assert "data-later" not in whole


def test_long_note_is_read_in_parts(opened: OpenPage, page: PageClient) -> None:
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


def test_carriage_returns_are_not_shown(opened: OpenPage, page: PageClient) -> None:
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


def test_day_on_which_a_memory_leaves_its_tier_is_shown(opened: OpenPage, page: PageClient) -> None:
    text = page.get("memory", id=id_of(opened, "left-handed")).text
    assert re.search(r"In \d+ days?, on <time>\d{4}-\d\d-\d\d</time>, it goes to", text)


def test_earlier_identical_question_is_no_answer(opened: OpenPage, page: PageClient) -> None:
    with opened.daemon.client() as client:
        client.turn("Who repaired our spinet?", session_key="agent:main:chat:direct:spinet")
        (opened.daemon.workspace / "memory" / "2026-11-06.md").write_text("# Friday\n\nLars repaired our spinet.\n")
        client.sync()
    eventually(lambda: "asks the same, without an answer" in page.get("ask", q="Who repaired our spinet?").text)
    text = page.get("ask", q="Who repaired our spinet?", whole="yes").text
    answered = text.partition("Only near")[0]
    assert "Lars repaired our spinet" in answered
    assert "Who repaired our spinet?</p>" not in answered


def test_damaged_session_file_is_named_with_the_reason(opened: OpenPage, page: PageClient) -> None:
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
