from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.entries import ChunkSettings, chunk_entries, content_hash, media_entries

SMALL = ChunkSettings(tokens=40, overlap=10)
TEXTS = st.lists(
    st.sampled_from(["# Head", "## Sub", "", "one two three four five", "- item", "```", "海边的木屋", "a" * 90]),
    max_size=60,
).map("\n".join)


def text_at(text: str, first: int, last: int) -> str:
    return "\n".join(text.split("\n")[first - 1 : last])


@given(TEXTS)
def test_entry_text_is_at_its_line_numbers(text: str) -> None:
    for entry in chunk_entries(text, SMALL):
        assert entry.text.rstrip("\n") in text_at(text, entry.start_line, entry.end_line)


@given(TEXTS)
def test_passages_are_inside_their_chunk_and_not_blank(text: str) -> None:
    for entry in chunk_entries(text, SMALL):
        for passage in entry.passages:
            assert 0 <= passage.start < passage.stop <= len(entry.text)
            assert entry.text[passage.start : passage.stop].strip()
            assert passage.hash == content_hash(entry.heading, entry.text[passage.start : passage.stop])


@given(TEXTS)
def test_every_word_is_in_a_passage(text: str) -> None:
    words = {word for line in text.split("\n") for word in line.split() if word[0].isalpha()}
    covered = " ".join(
        entry.text[passage.start : passage.stop] for entry in chunk_entries(text, SMALL) for passage in entry.passages
    )
    assert all(word in covered or len(word) > 60 for word in words)


@given(TEXTS, st.data())
def test_entries_with_equal_hash_differ_only_in_lines(text: str, data: st.DataObject) -> None:
    """A chunk with an unchanged hash keeps its rows, so the content of the rows must be the same."""
    lines = text.split("\n")
    at = data.draw(st.integers(0, len(lines)))
    edited = "\n".join([*lines[:at], "one two three four five", *lines[at + data.draw(st.integers(0, 2)) :]])
    before = {entry.hash: entry for entry in chunk_entries(text, SMALL)}
    for entry in chunk_entries(edited, SMALL):
        if same := before.get(entry.hash):
            assert (same.heading, same.text, same.passages) == (entry.heading, entry.text, entry.passages)


def test_same_lines_with_other_overlap_have_other_hash() -> None:
    numbers = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
    text = "".join(f"line {number} says something about it\n" for number in numbers)
    overlapping = chunk_entries(text, SMALL)[-1]
    alone = chunk_entries(overlapping.text, SMALL)[0]
    assert overlapping.text == alone.text
    assert overlapping.passages != alone.passages
    assert overlapping.hash != alone.hash


def test_same_text_under_other_heading_has_other_hash() -> None:
    assert content_hash("Rent", "It went up.") != content_hash("Heating", "It went up.")


def test_lone_surrogate_has_a_hash() -> None:
    assert len(content_hash("", "a\udc80b")) == 16


def test_fingerprint_depends_on_settings() -> None:
    assert SMALL.fingerprint != ChunkSettings(tokens=41, overlap=10).fingerprint


def test_picture_is_one_chunk_with_its_name_as_text() -> None:
    (entry,) = media_entries("assets/holiday.png", "image/png", b"d" * 32)
    assert entry.text == "Image file: holiday.png"
    assert (entry.start_line, entry.end_line) == (1, 1)
    (passage,) = entry.passages
    assert (passage.start, passage.stop) == (0, 0)


def test_renamed_picture_keeps_its_passage_and_changed_one_does_not() -> None:
    png, digest = "image/png", b"d" * 32
    (entry,) = media_entries("assets/holiday.png", png, digest)
    (renamed,) = media_entries("elsewhere/beach.png", png, digest)
    (changed,) = media_entries("assets/holiday.png", png, b"e" * 32)
    assert renamed.passages == entry.passages
    assert renamed.hash != entry.hash
    assert changed.passages != entry.passages
