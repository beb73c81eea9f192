import tracemalloc

import pytest

from memoryd.domain.text.chunking import Chunk, each_chunk
from memoryd.domain.text.lines import encode_padded
from memoryd.domain.text.markdown import headings_of
from memoryd.domain.text.tokens import estimate
from tests.chunks import chunk
from tests.sweeps import whole_or
from tests.unit.markdown_texts import HABITS, document


def own_text(text: str, part: Chunk) -> str:
    return text[part.own_start : part.end]


def sizes(text: str, parts: list[Chunk]) -> list[int]:
    return [estimate(own_text(text, part)) for part in parts]


def assert_sound(text: str, parts: list[Chunk], *, tokens: int = 400, passage_tokens: int = 100) -> None:
    """Check what is true for any text: coverage, limits, line numbers, passages."""
    end = 0
    for part in parts:
        assert not text[end : part.own_start].strip()
        assert part.start <= part.own_start < part.end
        assert part.start_line == text.count("\n", 0, part.start) + 1
        assert part.end_line == text.count("\n", 0, part.end - 1) + 1
        assert estimate(text[part.start : part.end]) <= tokens
        assert [part.passages[0].start, part.passages[-1].end] == [part.own_start, part.end]
        assert all(one.end == next_.start for one, next_ in zip(part.passages, part.passages[1:], strict=False))
        assert all(estimate(text[span.start : span.end]) <= passage_tokens for span in part.passages)
        end = part.end
    assert not text[end:].strip()


@pytest.mark.parametrize("text", ["", "\n", " \t\r\n\n" * 50, "\u3000\n"])
def test_blank_text_has_no_chunks(text: str) -> None:
    assert chunk(text) == []


def test_small_file_is_one_chunk() -> None:
    text = "---\ntags: [a]\n---\n\n# Trip\n\nWe took the train.\n"
    (only,) = chunk(text)
    assert (only.start, only.end, only.own_start, only.start_line, only.end_line) == (0, len(text), 0, 1, 7)
    assert only.heading == "Trip"


@pytest.mark.parametrize("style", HABITS)
def test_each_style_gives_well_filled_chunks(style: str) -> None:
    text = document(style, 60_000 if style != "Chinese prose" else 15_000)
    parts = chunk(text)
    assert_sound(text, parts)
    chunk_sizes = sizes(text, parts)
    assert sum(chunk_sizes) / len(chunk_sizes) > 0.6 * 320
    assert max(chunk_sizes) <= 320
    passages = [estimate(text[span.start : span.end]) for part in parts for span in part.passages]
    assert 55 < sum(passages) / len(passages) < 100


def test_chunk_begins_with_the_end_of_the_previous_one() -> None:
    text = document("chat", 20_000)
    parts = chunk(text)
    overlaps = [estimate(text[part.start : part.own_start]) for part in parts[1:]]
    assert all(20 < size <= 80 for size in overlaps)
    assert all(text[part.start - 1] == "\n" for part in parts[1:])


@pytest.mark.parametrize(("tokens", "overlap"), [(400, 0), (100, 50), (100, 99), (40, -5)])
def test_overlap_is_clamped(tokens: int, overlap: int) -> None:
    text = document("sections", 8_000)
    parts = chunk(text, tokens=tokens, overlap=overlap)
    assert_sound(text, parts, tokens=tokens)
    most = min(max(overlap, 0), tokens // 2)
    assert all(estimate(text[part.start : part.own_start]) <= most for part in parts)


def test_section_starts_without_overlap() -> None:
    text = document("sections", 60_000)
    starts = [part for part in chunk(text)[1:] if text[part.own_start] == "#"]
    assert starts
    assert all(part.start == part.own_start for part in starts)


def test_heading_stays_with_its_section() -> None:
    text = document("sections", 60_000) + document("diary from a template", 30_000)
    for part in chunk(text):
        assert not own_text(text, part).rstrip().rsplit("\n", 1)[-1].startswith("#")


def test_path_includes_the_heading_that_starts_the_part() -> None:
    text = "# House\n\n" + "".join(f"## Room {n}\n\n{'A lamp stood there. ' * 55}\n\n" for n in range(4))
    assert [part.heading for part in chunk(text)][1:] == [f"House > Room {n}" for n in (1, 2, 3)]


@pytest.mark.parametrize(
    "block",
    ["```\n" + "x = load(y)\n\n" * 20 + "```", "| a | b |\n|---|---|\n" + "| one | two |\n" * 20],
    ids=["fence", "table"],
)
def test_block_that_fits_is_kept_whole(block: str) -> None:
    paragraphs = [paragraph for paragraph in document("paragraphs without headings", 12_000).split("\n\n") if paragraph]
    for place in range(0, len(paragraphs), 9):
        text = "\n\n".join([*paragraphs[:place], block, *paragraphs[place:]])
        assert any(block in own_text(text, part) for part in chunk(text)), place


def test_long_fence_is_cut_between_lines() -> None:
    text = "Look:\n\n```\n" + "".join(f"call({n}, {n * 7})\n" for n in range(300)) + "```\n"
    parts = chunk(text)
    assert_sound(text, parts)
    assert all(text[part.own_start - 1] == "\n" for part in parts[1:])


def test_long_line_is_cut_at_sentences() -> None:
    text = document("one line", 10_000)
    assert all(text[part.own_start - 2 : part.own_start] == ". " for part in chunk(text)[1:])


def test_chinese_line_is_cut_at_sentences() -> None:
    text = document("Chinese prose", 5_000).replace("\n", "")
    assert all(text[part.own_start - 1] in "。！" for part in chunk(text)[1:])


def test_crlf_is_not_split() -> None:
    text = document("sections", 10_000).replace("\n", "\r\n") + "word \r\n" * 2000 + "\r\n" * 3000 + "x"
    parts = chunk(text)
    assert_sound(text, parts)
    places = {place for part in parts for span in part.passages for place in (span.start, span.end, part.start)}
    assert all(text[place - 1 : place + 1] != "\r\n" for place in places if place > 0)


def test_grapheme_clusters_are_not_split() -> None:
    text = "e\u0301" * 900 + "👩\u200d🔬" * 300 + "\ud83d\ude00" * 300 + "❤\ufe0f" * 300
    starts = {text[span.start] for part in chunk(text) for span in part.passages}
    assert starts <= set("e👩\ud83d❤")


@pytest.mark.parametrize(
    "text",
    [
        "word " * 3_000,
        "abcdefghij" * 1_000,
        "a" * 10_000,
        "漢字" * 2_000,
        "# h\n" * 3_000,
        "".join(" " * min(2 * depth, 60) + "- x\n" for depth in range(1_000)),
        ">" * 4_000 + " x\n" + "> y\n" * 500,
        "- " * 3_000,
        "text\n```\n" + "x = 1\n" * 1_000,
        "|a|b|\n|-|-|\n" + "| c | d |\n" * 800,
        "[" * 3_000 + "![](" * 1_000 + "(a+)+" * 500,
        "." * 5_000 + "!?" * 1_000,
        "```\n~~~\n" * 400,
        "\0" * 5_000,
        "\ufeff# Title\n\n" + "\ufeff" * 1_000,
        "\ud800" * 1_000,
        "x\n" + "\n" * 50_000 + "y",
        "x" + " " * 50_000 + "y",
        "\r" * 20_000 + "x",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_text_is_chunked_soundly(text: str) -> None:
    assert_sound(text, chunk(text))


@pytest.mark.parametrize("tokens", [8, 30])
def test_tiny_limits_hold(tokens: int) -> None:
    text = document("Chinese prose", 300) + document("sections", 500)
    assert_sound(text, chunk(text, tokens=tokens, overlap=1, passage_tokens=3), tokens=tokens, passage_tokens=3)


def test_only_a_single_character_exceeds_a_limit() -> None:
    text = "😀 ok!"
    parts = chunk(text, tokens=1, overlap=0, passage_tokens=1)
    assert [own_text(text, part) for part in parts] == ["😀", " ok", "!"]


@pytest.mark.parametrize("style", HABITS)
def test_long_document_is_chunked_soundly_by_windows(style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryd.domain.text.chunking.WINDOW_BYTES", 6_000)
    text = document(style, 60_000)
    assert_sound(text, chunk(text))
    assert_headings_of_whole_document(text)


def assert_headings_of_whole_document(text: str) -> None:
    parts, headings = chunk(text), headings_of(encode_padded(text))
    assert [part.heading for part in parts] == [headings.path(len(text[: part.own_start].encode())) for part in parts]


@pytest.mark.parametrize("above", ["", "Log\n===\n\n", "# Log\n\n## Day\n\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_fence_longer_than_a_window_stays_code(above: str, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryd.domain.text.chunking.WINDOW_BYTES", 6_000)
    code = "".join(f"# comment {number} of a script\n\n" for number in range(900))
    text = f"{above}~~~~sh\n{code}~~~\n~~~~\n\n# After\n\nWe took the train.\n".replace("\n", end)
    assert_headings_of_whole_document(text)
    assert not any("comment" in part.heading for part in chunk(text))


def test_edit_changes_chunks_of_its_window_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryd.domain.text.chunking.WINDOW_BYTES", 20_000)
    text = document("paragraphs without headings", 200_000)
    before = {text[part.start : part.end] for part in chunk(text)}
    edited = f"# New\n\nWe took the train.\n\n{text}"
    assert len(before & {edited[part.start : part.end] for part in chunk(edited)}) > 0.9 * len(before)


@pytest.mark.sweep
@pytest.mark.parametrize("line", ["gateway water rises at four ", "- a\n", "gatewaywater"])
def test_memory_use_does_not_grow_with_text(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    window = whole_or(2**17, 2**20)
    monkeypatch.setattr("memoryd.domain.text.chunking.WINDOW_BYTES", window)
    data = encode_padded((line * (8 * window))[: 8 * window])
    tracemalloc.start()
    try:
        assert next(each_chunk(data)).start_line == 1
        assert tracemalloc.get_traced_memory()[1] < 64 * window
    finally:
        tracemalloc.stop()
