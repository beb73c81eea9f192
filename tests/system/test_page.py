"""The page over HTTP: login, content, writing, and that notes stay text."""

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from memoryd.errors import NotFound
from memoryd.web.door import HEADERS
from memoryd.web.rendering import render
from tests.page import HOSTILE, OURS, RLO, TURNED, OpenPage, PageClient, open_page, text_of
from tests.sweeps import whole_or
from tests.waiting import eventually

RETAIN = "## Retain\n"
NOTES = {
    **HOSTILE,
    "memory/2026-11-10.md": "# Tuesday\n\nThe stove was cold.\n\n"
    f"{RETAIN}- W @Tilde: the stove was repaired by Tilde\n- W @Bram: takes the night train\n",
    "memory/2026-10-01.md": RETAIN + "".join(f"- W @Shelf: box number {n} holds papers\n" for n in range(60)),
    "memory/2026-10-02.md": "# 星期五\n\n## Retain\n- W @文: 每个周末都去海边的木屋\n",
}
FOREIGN = {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPage]:
    with open_page(tmp_path_factory.mktemp("page"), NOTES) as running:
        yield running


@pytest.fixture(scope="module")
def page(opened: OpenPage) -> Iterator[PageClient]:
    with opened.enter() as client:
        yield client


def id_of(opened: OpenPage, words: str) -> str:
    with opened.daemon.client() as client:
        return next(memory["id"] for memory in client.memories(query=words)["memories"] if words in memory["text"])


def test_link_works_once_and_its_cookie_is_bound_to_its_path(opened: OpenPage) -> None:
    link = opened.link()
    assert link.startswith(f"{opened.url}/web/login#")
    with PageClient(opened.url, link=link) as first, PageClient(opened.url, link=link) as second:
        assert (first.login.status_code, second.login.status_code) == (303, 401)
        cookie = first.login.headers["set-cookie"]
        assert re.search(r"; HttpOnly; Path=/web/[\w-]{16}/; SameSite=strict", cookie)
        assert first.get("ask").status_code == 200
        assert "memoryctl web" in second.login.text


def test_wrong_token_is_refused(opened: OpenPage) -> None:
    with PageClient(opened.url, link="#nonsense") as client:
        assert client.login.status_code == 401
        assert client.get("ask").status_code == 401


def test_link_used_by_another_site_is_refused_and_stays_valid(opened: OpenPage) -> None:
    link = opened.link()
    token = {"token": link.partition("#")[2]}
    for headers in (FOREIGN, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}, {}):
        refused = httpx.post(f"{opened.url}/web/login", data=token, headers=headers)
        assert (refused.status_code, "set-cookie" in refused.headers) == (403, False)
    with PageClient(opened.url, link=link) as client:
        assert client.get("ask").status_code == 200


def test_cookie_is_valid_only_for_its_own_path(opened: OpenPage, page: PageClient) -> None:
    with opened.enter() as other:
        other.cookie = page.cookie
        assert other.get("ask").status_code == 401
        assert httpx.get(f"{opened.url}{other.base}/ask").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        FOREIGN,
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
        {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
        {},
        {**OURS, "Host": "evil.example"},
        {**OURS, "Origin": "http://localhost:1"},
    ],
)
def test_write_from_another_site_is_refused(page: PageClient, headers: dict[str, str]) -> None:
    assert page.post("agent", headers=headers, agent="main").status_code == 403


def test_page_requested_by_another_site_is_refused(page: PageClient) -> None:
    assert page.get("ask", headers=FOREIGN).status_code == 403
    refused = page.get("ask", headers={"Sec-Fetch-Site": "cross-site"})
    assert refused.status_code == 403
    assert "it comes from another page" in refused.text
    assert refused.headers["content-type"].startswith("text/html"), "a person sees it"
    assert page.get("ask", headers={}).status_code == 200
    assert page.post("agent", headers={"Origin": page.http.base_url.copy_with(path="").__str__()}).status_code == 200


def test_every_answer_has_the_security_headers(opened: OpenPage, page: PageClient) -> None:
    answers = [page.get("ask"), page.get("none"), page.get("ask", headers=FOREIGN), page.login]
    answers += [page.http.get(f"/web/{path}") for path in ("login", "static/page.css", "static/none", "none")]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert page.get("none").status_code == 404


def test_port_opened_for_the_page_answers_no_calls(opened: OpenPage, page: PageClient) -> None:
    assert httpx.get(f"{opened.url}/v1/health").status_code == 404
    begun = httpx.get(f"{opened.url}/")
    assert (begun.status_code, begun.headers["location"]) == (303, "/web/login")
    assert {name: begun.headers[name] for name in HEADERS} == HEADERS
    assert httpx.get(f"{opened.url}/", headers=FOREIGN).status_code == 403


@pytest.mark.parametrize("path", ["ask", "memories", "changes", "health", "ask?q=stove", "memories?tier=working"])
def test_page_is_small_and_complete(page: PageClient, path: str) -> None:
    answer = page.get(path)
    assert answer.status_code == 200
    assert len(answer.content) < 100_000
    assert answer.text.rstrip().endswith("</html>")
    assert " style=" not in answer.text
    assert "<script>" not in answer.text


def test_answer_shows_source_and_reason(page: PageClient) -> None:
    text = text_of(page.get("ask", q="who repaired the stove"))
    assert "the stove was repaired by Tilde" in text
    assert "memory/2026-11-10.md#L6" in text
    assert "Has “repaired”, “stove”" in text
    assert "Left out, and why" in text_of(page.get("ask", q="box number"))


def test_question_in_chinese_is_answered(page: PageClient) -> None:
    assert "每个周末都去海边的木屋" in text_of(page.get("ask", q="海边的木屋"))


def test_page_without_question_shows_the_number_of_memories(page: PageClient) -> None:
    eventually(lambda: re.search(r"of \d+ memories\.", page.get("ask").text))
    assert 'name="q"' in page.get("ask").text


def test_question_without_answer_gives_advice(page: PageClient) -> None:
    assert "Ask in other words" in text_of(page.get("ask", q="zeppelin"))


def test_correction_is_recalled_and_undone(opened: OpenPage, page: PageClient) -> None:
    old = id_of(opened, "night train")
    answer = page.post("correct", id=old, text="takes the day train", back="ask?q=train")
    assert "Corrected" in answer.text
    assert "takes the day train" in answer.text
    run = re.search(r'name="run" value="([^"]+)"', answer.text)
    assert run is not None
    undone = page.post("undo", run=run[1], back="ask?q=train")
    assert "Taken back" in undone.text
    eventually(lambda: "takes the day train" not in page.get("ask", q="train").text)


def test_forgetting_is_previewed_and_undone(opened: OpenPage, page: PageClient) -> None:
    target = id_of(opened, "box number 7 ")
    before = page.get("forget", target=target)
    assert "box number 7 holds papers" in before.text
    assert "memory/2026-10-01.md#L" in before.text
    receipt = page.forget(target, undoable="yes", back="memories")
    assert "Forgotten" in receipt.text
    assert "total" not in receipt.text
    assert page.get("memories", q="box 7").text.count("box number 7 ") == 0
    number = re.search(r'name="id" value="(\d+)"', receipt.text)
    assert number is not None
    assert "Taken back" in page.post("undo", id=number[1]).text
    assert "box number 7 holds papers" in page.get("memories", q="box 7").text


def test_lines_are_forgotten_only_as_they_were_shown(opened: OpenPage, page: PageClient) -> None:
    note = opened.daemon.workspace / "memory" / "pier.md"
    note.write_text("# Pier\n\nthe quokka ate\nan orange\n\nthe pier stays\n")
    eventually(lambda: "the quokka ate" in text_of(page.get("ask", q="quokka")))
    place = "memory/pier.md#L3-L4"
    assert "Forget these lines" in page.get("open", at=place).text
    before = page.get("forget", target=place, back="ask?q=quokka")
    text = text_of(before)
    assert "3 the quokka ate 4 an orange" in text
    assert "the pier stays" not in text
    assert "Lines of notes 2: memory/pier.md#L3-L4" in text
    shown = re.search(r'name="shown" value="(\w+)"', before.text)
    assert shown is not None
    note.write_text("# Pier\n\nthe pier\nwas painted\n\nthe quokka ate\nan orange\n")
    eventually(lambda: "was painted" in page.get("open", at=place).text)
    late = page.post("forget", target=place, shown=shown[1])
    assert (late.status_code, "would forget has changed" in late.text) == (400, True)
    assert "was painted" in note.read_text()
    again = re.search(r'name="shown" value="(\w+)"', page.get("forget", target=place).text)
    assert again is not None
    assert "Lines of notes 2" in text_of(page.post("forget", target=place, shown=again[1]))
    assert note.read_text() == "# Pier\n\n\nthe quokka ate\nan orange\n"


def test_note_too_long_to_show_is_not_forgotten_here(page: PageClient) -> None:
    answer = page.get("forget", target="memory/long.md#L3")
    assert (answer.status_code, "too long to be shown" in answer.text) == (400, True)


def test_several_memories_are_forgotten_with_one_receipt(opened: OpenPage, page: PageClient) -> None:
    targets = [id_of(opened, f"box number {n} ") for n in (50, 51, 52)]
    assert page.get("forget", target=targets).text.count('class="item"') == 3
    receipt = text_of(page.forget(targets))
    assert "Lines of notes 3" in receipt
    assert "Undo" not in receipt
    assert "is forgotten already" in text_of(page.forget(targets)).replace("may be", "is")


def test_reloaded_receipt_does_not_forget_again(opened: OpenPage, page: PageClient) -> None:
    target = id_of(opened, "box number 53 ")
    done = page.forget(target, follow=False)
    assert done.status_code == 303
    shown = [page.get(done.headers["location"]) for _ in range(2)]
    assert text_of(shown[0]) == text_of(shown[1])
    assert "<title>Forgotten" in shown[0].text
    assert "Lines of notes 1" in text_of(shown[0])
    assert "box number 53 " not in shown[0].text
    page.forget(id_of(opened, "box number 54 "))
    late = page.get(done.headers["location"])
    assert (late.status_code, "The page Changes lists" in late.text) == (404, True)


def test_memory_is_pinned_and_unpinned(opened: OpenPage, page: PageClient) -> None:
    memory = id_of(opened, "box number 9 ")
    assert "Pinned" in page.post("pin", id=memory, back="memories?pinned=yes").text
    assert "box number 9 " in page.get("memories", pinned="yes").text
    assert "box number 9 " not in page.post("unpin", id=memory, back="memories?pinned=yes").text


def walk(page: PageClient, path: str) -> Iterator[str]:
    """Yield each page of a list, following the links."""
    while path:
        text = page.get(path).text
        yield text
        link = re.search(r'rel="next" href="([^"]+)"', text)
        path = link[1].replace("&amp;", "&") if link else ""


def test_memories_are_paged_without_gaps_or_duplicates(opened: OpenPage, page: PageClient) -> None:
    pages = list(walk(page, "memories?entity=Shelf"))
    found = [box for text in pages for box in re.findall(r"box number \d+ holds papers</p>", text)]
    assert len(pages) == 3
    assert len(found) == len(set(found)) > 50


def test_changes_are_paged_by_number(opened: OpenPage, page: PageClient) -> None:
    memory = id_of(opened, "box number 11 ")
    for _ in range(14):
        page.post("pin", id=memory, follow=False)
        page.post("unpin", id=memory, follow=False)
    numbers = [int(number) for text in walk(page, "changes") for number in re.findall(r'id="c(\d+)"', text)]
    assert numbers == sorted(set(numbers), reverse=True)
    assert len(numbers) >= 28


def test_memory_shows_when_it_leaves_its_tier(opened: OpenPage, page: PageClient) -> None:
    text = page.get("memory", id=id_of(opened, "repaired by Tilde")).text
    assert re.search(r"peripheral in \d+ days", text)
    assert "<polyline" in text


def test_cited_lines_are_marked_when_opened(page: PageClient) -> None:
    text = page.get("open", at="memory/2026-11-10.md#L6").text
    assert '<p class="focus" id="L6">' in text
    assert page.get("open", at="../../etc/passwd").status_code in (400, 404)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("memories?tier=nonsense", 400),
        ("memories?age=x", 400),
        ("memories?scope=%00", 400),
        ("memory?id=00000000", 404),
        ("changes?before=x", 400),
        ("forget", 400),
        ("open?at=", 400),
        ("ask?q=" + "x" * 5000, 413),
    ],
)
def test_invalid_request_gets_a_page_with_the_error(page: PageClient, path: str, status: int) -> None:
    answer = page.get(path)
    assert answer.status_code == status
    assert "That cannot be shown" in answer.text


def test_return_page_is_always_local(page: PageClient) -> None:
    for back in ("https://evil.example/", "//evil.example", "/v1/x", "javascript:alert(1)", "ask\r\nx: y"):
        assert page.post("agent", back=back, follow=False).headers["location"] in ("../main/ask", "memories")


def tags_of(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return the tags of a page with their attributes, as a browser parses them."""
    found: list[tuple[str, dict[str, str]]] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append((tag, {name: value or "" for name, value in attrs}))

    Tags().feed(text)
    return found


@pytest.mark.parametrize(
    "path", ["ask?q=harbour", "memories?q=harbour", "open?at=memory/2026-11-20.md", "open?at=memory/long.md", "changes"]
)
def test_hostile_note_stays_text(page: PageClient, path: str) -> None:
    answer = page.get(path)
    assert answer.status_code == 200
    check_harmless(answer)


def check_harmless(answer: httpx.Response) -> None:
    """Check that hostile text on a page is only text."""
    assert answer.status_code in (200, 404)
    assert len(answer.content) < 100_000
    tags = tags_of(answer.text)
    assert {tag for tag, _ in tags}.isdisjoint({"iframe", "b", "object", "embed", "style"})
    assert [attrs["src"] for tag, attrs in tags if "src" in attrs and tag != "img"] == ["/web/static/page.js"]
    assert {attrs["src"] for tag, attrs in tags if tag == "img"} == {"/web/static/icon.svg"}
    assert not [name for _, attrs in tags for name in attrs if name.startswith("on") or name == "style"]
    assert not [attrs["href"] for _, attrs in tags if re.match(r"(javascript|data):", attrs.get("href", ""))]
    # form fields have the text unchanged, since it is sent again
    assert RLO not in re.sub(r'value="[^"]*"|<textarea.*?</textarea>', "", answer.text, flags=re.DOTALL)
    assert "1337" not in answer.text
    for tag in ("main", "article", "form", "details", "section"):
        assert answer.text.count(f"<{tag}") == answer.text.count(f"</{tag}>"), tag


@pytest.mark.parametrize("path", ["ask?q=harbour", "memories", "changes", "health", "entities", "conversations"])
def test_headings_skip_no_level(page: PageClient, path: str) -> None:
    if path == "changes":
        # without a change the page has only its own heading
        page.post("remember", text="the quay has nine steps")
    assert skips_no_level(page.get(path).text)


def skips_no_level(text: str) -> bool:
    main = text.partition('<main id="main"')[2].partition("</main>")[0]
    levels = [int(level) for level in re.findall(r"<h([1-6])\b", main)]
    return levels[0] == 1 and all(after <= before + 1 for before, after in pairwise(levels))


def test_bidirectional_override_is_shown_as_text(page: PageClient) -> None:
    assert TURNED in page.get("memories", q="turned round").text


def test_events_carry_the_figures_of_health(page: PageClient) -> None:
    with page.http.stream("GET", f"{page.base}/events", headers=page._headers(OURS)) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert next(lines) == "event: figures"
        assert '"main.state": "up to date"' in next(lines)


def streamed_figures(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """Yield the figures of each event of a stream."""
    for line in lines:
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))


def test_events_report_a_conflict_on_disk(opened: OpenPage, page: PageClient) -> None:
    """Everything on a row of Health is sent again when it changes."""
    copy = opened.daemon.workspace / "memory" / "y.sync-conflict-20260101-120000-ABCDEFG.md"
    with page.http.stream("GET", f"{page.base}/events", headers=page._headers(OURS)) as answer:
        figures = streamed_figures(answer.iter_lines())
        assert next(figures)["main.conflicts"] == "none"
        copy.write_text("# Copy\n\nA third opinion.\n")
        try:
            assert any(row["main.conflicts"] == f"memory/{copy.name}" for row in figures)
        finally:
            copy.unlink()
        assert any(row["main.conflicts"] == "none" for row in figures)
        names = next(figures)
    shown = set(re.findall(r'data-live="([^"]+)"', page.get("health").text))
    assert shown == set(names) - {"main.done"}, "every figure has its place; there is no embedder"


def test_stream_ends_at_a_reload_and_continues_with_new_figures(tmp_path: Path) -> None:
    with open_page(tmp_path, {"MEMORY.md": "# Memory\n\nThe boat is green.\n"}) as opened, opened.enter() as page:
        config = opened.daemon.config
        before = json.loads(config.read_text())
        with page.http.stream("GET", f"{page.base}/events", headers=page._headers(OURS)) as answer:
            lines = answer.iter_lines()
            assert next(streamed_figures(lines))["main.files"] == "1"
            before["agents"]["defaults"]["memorySearch"].setdefault("query", {})["maxResults"] = 9
            config.write_text(json.dumps(before))
            with opened.daemon.client() as client:
                assert client.reload()["reloaded"]
            rest = list(lines)
        assert "event: over" not in rest, "so that a browser reconnects"
        (opened.daemon.workspace / "memory").mkdir(exist_ok=True)
        (opened.daemon.workspace / "memory" / "new.md").write_text("# New\n\nThe mast is of larch.\n")
        with page.http.stream("GET", f"{page.base}/events", headers=page._headers(OURS)) as answer:
            assert any(row["main.files"] == "2" for row in streamed_figures(answer.iter_lines()))


def test_stream_ends_with_its_session_which_has_only_one(opened: OpenPage) -> None:
    with opened.enter() as mine, opened.enter() as other, ExitStack() as streams:

        def stream(of: PageClient) -> Iterator[str]:
            response = of.http.stream("GET", f"{of.base}/events", headers=of._headers(OURS))
            lines = streams.enter_context(response).iter_lines()
            assert next(lines) == "event: figures"
            return lines

        # more than the limit of streams for all sessions
        many = [stream(mine) for _ in range(40)]
        alive = stream(other)
        assert all("event: over" in lines for lines in many[:-1]), "all but the last were closed"
        assert mine.post("logout", follow=False).headers["location"] == "/web/login"
        assert "event: over" in many[-1]
        assert mine.get("ask").status_code == 401
        assert other.get("ask").status_code == 200
        assert other.post("logout", headers=FOREIGN).status_code == 403
        assert other.get("ask").status_code == 200
        assert '"main.state"' in next(alive)


def test_memoryctl_prints_the_link_and_the_ssh_command(opened: OpenPage) -> None:
    printed = opened.daemon.memoryctl("web", "--print")
    assert printed.stdout.startswith(f"{opened.url}/web/login#")
    assert f"ssh -N -L {opened.port}:127.0.0.1:{opened.port} " in printed.stderr
    # the link is also printed where no browser can be opened
    assert opened.daemon.memoryctl("web").stdout.startswith(opened.url)
    reply = json.loads(opened.daemon.memoryctl("web", "--json").stdout)
    assert (reply["port"], reply["expiresSeconds"]) == (opened.port, 60)


def test_health_has_a_row_for_each_part(opened: OpenPage, page: PageClient) -> None:
    copy = opened.daemon.workspace / "memory" / "x.sync-conflict-20260101-120000-ABCDEFG.md"
    copy.write_text("# Copy\n\nA second opinion.\n")
    try:
        eventually(lambda: f"Conflicts on disk memory/{copy.name}" in text_of(page.get("health")))
        text = text_of(page.get("health"))
    finally:
        copy.unlink()
    for row in (
        f"Workspace {opened.daemon.workspace} ",
        f"Folders {opened.daemon.workspace}/memory ok",
        "Looked at disk just now , watched by events",
        "Embedder none",
        "Search builtin",
        "Sizes index ",
        "Left out 0 files",
        "files to read",
        "passages to embed",
        "messages to capture",
        "Found by words only.",
        "Version ",
        "Up ",
        "Memory ",
        f"Socket {opened.daemon.socket} ",
        f"Port 127.0.0.1:{opened.port} open for this page alone",
    ):
        assert row in text, (row, text)
    eventually(lambda: "Conflicts on disk none" in text_of(page.get("health")))


def test_doctor_runs_on_request(page: PageClient) -> None:
    answer = page.post("doctor")
    text = text_of(answer)
    assert "<td>off</td>" in answer.text
    assert "What doctor says" in text
    assert "checks" in text
    is_well = not re.search(r'<h2 class="first (wrong|warn)">', answer.text)
    assert ("Nothing is wrong." in text) == is_well
    assert skips_no_level(answer.text)


@pytest.mark.sweep
def test_only_one_doctor_runs_at_a_time(opened: OpenPage, page: PageClient) -> None:
    daemon = psutil.Process(opened.daemon.pid)

    def doctors() -> int:
        return sum("doctor" in child.cmdline() for child in daemon.children() if child.is_running())

    most, askers = 0, whole_or(2, 4)
    with ThreadPoolExecutor(askers) as pool:
        answers = [pool.submit(page.post, "doctor") for _ in range(askers)]
        while not all(answer.done() for answer in answers):
            with suppress(psutil.Error):
                most = max(most, doctors())
            time.sleep(0.02)
    assert most == 1
    assert all("What doctor says" in answer.result().text for answer in answers)


@pytest.mark.parametrize(
    ("states", "is_well"), [(["ok"], True), (["ok", "off"], True), (["off", "look"], False), (["wrong"], False)]
)
def test_disabled_part_is_not_wrong(states: list[str], is_well: bool) -> None:
    checks = [{"part": state, "state": state, "message": "m", "hint": "", "fix": ""} for state in states]
    shared: dict[str, object] = {"navigation": [], "here": "", "title": "", "notice": None, "agents": [], "agent": None}
    text = render("doctor.html", {**shared, "checks": checks})
    assert ("Nothing is wrong." in text) == is_well


def test_socket_serves_no_page(opened: OpenPage) -> None:
    with opened.daemon.client() as client, pytest.raises(NotFound):
        client.text("/web/login")
