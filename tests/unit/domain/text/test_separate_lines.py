"""Separate lines of a document: memories are chunks of their own, generated text is in none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.entries import ChunkEntry, ChunkSettings, PresentText, chunk_entries, content_hash
from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.text.chunking import Chunk, SeparateLines, each_chunk
from memoryd.domain.text.lines import encode_padded

LOG = RelativePath("memory/2025-11-27.md")
BANK = RelativePath("bank/world.md")
NOTE = RelativePath("memory/boats.md")
SMALL = ChunkSettings(tokens=40, overlap=10)
BEGIN, END = "<!-- memoryd:begin -->", "<!-- memoryd:end -->"
BULLETS = [
    "- W @Peter: lives in Graz",
    "- O(c=0.9) @Peter @Anna: prefers tea\n  and says so\n  at length",
    "- 喜欢茶",
    "- preference @王芳: 喜欢茶",
    "- no kind at all",
    "- W @Peter: " + "many words of one long line " * 40,
]
PROSE = ["# Day", "## Retain", "## Other", "", "", "one two three four five six", "- item", "```", "a" * 90, BEGIN, END]
TEXTS = st.lists(st.sampled_from([*PROSE, *BULLETS]), max_size=60).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda end: "\n".join(lines).replace("\n", end))
)
LOGS = TEXTS.map(lambda text: f"# 2025-11-27\n\n## Retain\n\n{BULLETS[0]}\n\n{text}")
PATHS = st.sampled_from([LOG, BANK])


def text_at(text: str, entry: ChunkEntry | Chunk) -> str:
    return "\n".join(text.split("\n")[entry.start_line - 1 : entry.end_line])


def memories(text: str, path: RelativePath = LOG) -> list[ChunkEntry]:
    return [entry for entry in chunk_entries(text, SMALL, path) if entry.memory]


@given(LOGS, PATHS)
def test_each_memory_is_one_chunk_with_one_passage_unless_too_large(text: str, path: RelativePath) -> None:
    placed = memory_sections(encode_padded(text), path).lines
    found = memories(text, path)
    assert [(one.start_line, one.end_line, one.line.id) for one in placed] == [
        (entry.start_line, entry.end_line, entry.memory) for entry in found
    ]
    for entry in found:
        assert text_at(text, entry).removesuffix("\r") == entry.text
        starts, stops = [it.start for it in entry.passages], [it.stop for it in entry.passages]
        assert [*starts, len(entry.text)] == [0, *stops]
        assert (len(starts) == 1) == (len(entry.text) < 300)
        if len(starts) == 1:
            assert entry.passages[0].hash == content_hash(entry.heading, entry.text)


@given(LOGS, PATHS)
def test_no_other_chunk_has_lines_of_memories_or_generated_text(text: str, path: RelativePath) -> None:
    found = memory_sections(encode_padded(text), path)
    data = encode_padded(text)
    taken = {line for one in found.lines for line in range(one.start_line, one.end_line + 1)}
    for start, end in found.generated:
        first = data.count(b"\n", 0, start) + 1
        taken |= set(range(first, first + data[start:end].rstrip().count(b"\n") + 1))
    for entry in chunk_entries(text, SMALL, path):
        if not entry.memory:
            lines = range(entry.start_line, entry.end_line + 1)
            visible = [line for line in lines if text.split("\n")[line - 1].strip()]
            assert not taken & set(visible)
            assert entry.text.rstrip("\r\n") in text_at(text, entry)


@given(LOGS, PATHS)
def test_every_other_line_is_in_a_chunk_or_heading(text: str, path: RelativePath) -> None:
    data = encode_padded(text)
    generated = memory_sections(data, path).generated
    entries = chunk_entries(text, SMALL, path)
    covered = {line for entry in entries for line in range(entry.start_line, entry.end_line + 1)}
    at = 0
    for number, line in enumerate(text.split("\n"), start=1):
        is_blank = line.strip() in ("", "## Retain")
        if not is_blank and number not in covered and not any(start <= at < end for start, end in generated):
            assert line.startswith("#")
            title = line.lstrip("# ").rstrip()
            assert any(title in entry.heading for entry in entries if entry.start_line > number) or any(
                at < start and all(not row or row.startswith(b"#") for row in data[at:start].splitlines())
                for start, _ in generated
            )
        at += len(line.encode()) + 1


@given(LOGS, PATHS)
def test_chunk_is_found_at_its_line(text: str, path: RelativePath) -> None:
    present = PresentText(encode_padded(text))
    for entry in memories(text, path):
        assert present.line_of(entry.text, entry.heading, entry.start_line) == entry.start_line


@given(LOGS, PATHS, st.integers(1, 9))
def test_moved_memory_is_found_at_its_new_line(text: str, path: RelativePath, lines: int) -> None:
    present = PresentText(encode_padded("prose\n" * lines + text))
    for entry in memories(text, path):
        line = present.line_of(entry.text, entry.heading, entry.start_line + lines)
        assert line == entry.start_line + lines


@given(TEXTS)
def test_document_without_memories_is_cut_normally(text: str) -> None:
    assert chunk_entries(text, SMALL, NOTE) == chunk_entries(text, SMALL)
    assert list(each_chunk(encode_padded(text), tokens=50, overlap=10)) == list(
        each_chunk(encode_padded(text), tokens=50, overlap=10, apart=())
    )


@given(TEXTS)
def test_no_chunk_crosses_separate_lines(text: str) -> None:
    before = text + ("" if not text or text.endswith("\n") else "\n")
    document = f"{before}{BULLETS[0]}\nlast words\n"
    start = len(before.encode())
    stop = start + len(BULLETS[0]) + 1
    parts = list(each_chunk(encode_padded(document), tokens=50, overlap=10, apart=(SeparateLines(start, stop),)))
    at = next(index for index, part in enumerate(parts) if part.start == start)
    assert parts[at].end == stop - 1
    assert document.encode()[parts[at + 1].start : parts[at + 1].end] == b"last words\n"
    assert parts[at + 1].own_start == parts[at + 1].start
    assert all(part.end <= start for part in parts[:at])


def test_title_of_log_is_only_in_heading_paths() -> None:
    text = f"# 2025-11-27\n\n## Retain\n\n{BULLETS[0]}\n\nand prose\n"
    entries = chunk_entries(text, SMALL, LOG)
    assert [(entry.heading, entry.start_line) for entry in entries] == [
        ("2025-11-27 > Retain", 5),
        ("2025-11-27 > Retain", 7),
    ]


def test_heading_outside_the_path_stays_a_chunk() -> None:
    text = f"# Day\n\n## Quetzals\n\n## Retain\n\n{BULLETS[0]}\n"
    assert [entry.text.split("\n")[0] for entry in chunk_entries(text, SMALL, LOG)] == ["# Day", BULLETS[0]]


def test_the_heading_of_a_page_alone_is_no_chunk_beside_what_reflect_wrote() -> None:
    page = f"# Mara\n\n{BEGIN}\nFirst seen 2025-11-27.\n\n## Facts\n\n- a fact\n{END}\n"
    assert chunk_entries(page, SMALL, RelativePath("bank/entities/mara.md")) == ()
    mine = page.replace("# Mara\n", "# Mara\n\nMy neighbour.\n") + "\nShe has a boat.\n"
    texts = [entry.text.strip() for entry in chunk_entries(mine, SMALL, RelativePath("bank/entities/mara.md"))]
    assert texts == ["# Mara\n\nMy neighbour.", "She has a boat."]


@pytest.mark.parametrize("text", ["## Retain", "## Retain\n", "\n### *retain*:\r\n\r\n"])
def test_heading_of_an_empty_section_is_no_chunk(text: str) -> None:
    assert chunk_entries(text, SMALL, LOG) == ()
    assert len(chunk_entries(f"{text}\n\nprose\n", SMALL, LOG)) == len(chunk_entries(text, SMALL, NOTE)) == 1


def test_memory_keeps_its_hash_when_lines_are_added() -> None:
    text = f"## Retain\n{BULLETS[0]}"
    more = f"## Retain\n- W: another\n{BULLETS[0]}\r\n- W: and one more\n"
    (before,) = memories(text)
    assert before.hash in {entry.hash for entry in memories(more)}


@given(LOGS, PATHS)
def test_chunk_text_parses_as_its_memory(text: str, path: RelativePath) -> None:
    for placed, entry in zip(memory_sections(encode_padded(text), path).lines, memories(text, path), strict=True):
        parsed = parse_line(entry.text, default_kind=placed.line.kind)
        assert isinstance(parsed, RetainedLine)
        assert parsed == placed.line


def test_bullet_too_long_for_a_memory_is_prose() -> None:
    long = "- W: " + "far too long " * 2000
    for path in (LOG, BANK):
        text = f"## Retain\n\n{long}\n{BULLETS[0]}\n"
        assert [entry.text for entry in memories(text, path)] == [BULLETS[0]]
        assert [one.line for one in memory_sections(encode_padded(text), path).misses] == [3]
        assert len(chunk_entries(text, SMALL, path)) > 10
