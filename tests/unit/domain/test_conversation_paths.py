import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import (
    RelativePath,
    conversation_path,
    is_conversation,
    is_document_name,
    is_turns_path,
    part_path,
    transcript_path,
    turns_path,
)
from memoryd.domain.sessions.names import safe_id

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/"), min_size=1, max_size=20)
LINES = st.integers(1, 10**9)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("session:telegram-bob-20261018", True),
        ("sessions/main/0d9f.jsonl", True),
        ("sessions/main/0d9f.jsonl.reset.2026-10-18T10-00-00.000Z", True),
        ("sessions/2026-10-18.md", False),
        ("sessions/main/notes.md", False),
        ("sessions/main/NOTES.MD", False),
        ("sessions/main/photo.png", False),
        ("sessions/main/deep/0d9f.jsonl", False),
        ("session:plan.md", False),
        ("session:", False),
        ("memory/sessions/main/0d9f.jsonl", False),
        ("MEMORY.md", False),
    ],
)
def test_conversation_path_is_recognised(path: str, expected: bool) -> None:
    assert is_conversation(path) == expected


@given(name=NAMES, line=LINES)
def test_part_of_turns_maps_to_its_session(name: str, line: int) -> None:
    path = turns_path(safe_id(name))
    assert is_turns_path(path)
    assert conversation_path(part_path(path, line)) == path == conversation_path(path)


@given(agent=NAMES, stem=NAMES, line=LINES)
def test_part_of_transcript_maps_to_its_file(agent: str, stem: str, line: int) -> None:
    path = transcript_path(agent, f"{stem}.jsonl")
    assert not is_turns_path(path)
    assert conversation_path(part_path(path, line)) == path


@given(folder=NAMES, name=NAMES.map(lambda stem: f"{stem}.md"))
def test_note_is_neither_conversation_nor_part(folder: str, name: str) -> None:
    for path in (name, f"sessions/{name}", f"sessions/{folder}/{name}", f"session:{name}"):
        if is_document_name(path.rpartition("/")[2]):
            assert not is_conversation(path)
            assert conversation_path(RelativePath(path)) == path
