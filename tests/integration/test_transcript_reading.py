"""Reading transcripts on: real files that grow, are rewritten, renamed, replaced and damaged."""

import json
import os
from pathlib import Path

import pytest

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.transcripts.steps import ReadOn, TranscriptState
from memoryd.domain.sessions.transcripts.tails import START, Tail, renamed
from memoryd.domain.sessions.transcripts.utterances import TranscriptFormat
from memoryd.sessions.transcripts.reading_on import read_on
from memoryd.sessions.transcripts.transcript_folder import find_transcripts

GROWN, UNCHANGED, REWRITTEN = TranscriptState.GROWN, TranscriptState.UNCHANGED, TranscriptState.REWRITTEN


def told(text: str, role: str = "user") -> bytes:
    """Return a line of OpenClaw's."""
    return json.dumps({"type": "message", "message": {"role": role, "content": text}}).encode() + b"\n"


def asked(text: str) -> bytes:
    """Return a line of Claude Code's."""
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}).encode() + b"\n"


def spoken(step: ReadOn) -> list[tuple[int, str]]:
    return [(line.number, line.utterance.text) for line in step.lines]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_what_was_added_is_read_once(path: Path) -> None:
    path.write_bytes(told("one") + b'{"type":"custom"}\n')
    first = read_on(path)
    assert (first.state, spoken(first)) == (GROWN, [(1, "one")])
    assert (first.tail.lines, first.tail.offset) == (2, path.stat().st_size)
    append(path, told("three", "assistant"))
    second = read_on(path, first.tail)
    assert (second.state, spoken(second)) == (GROWN, [(3, "three")])
    assert read_on(path, second.tail) == ReadOn(UNCHANGED, second.tail)


def test_half_written_line_waits_for_its_end(path: Path) -> None:
    line = told("über allem")
    for cut in range(len(line)):
        path.write_bytes(told("one") + line[:cut])
        first = read_on(path)
        assert spoken(first) == [(1, "one")]
        append(path, line[cut:])
        assert spoken(read_on(path, first.tail)) == [(2, "über allem")]


def test_rewritten_file_starts_over(path: Path) -> None:
    path.write_bytes(told("one") + told("two"))
    tail = read_on(path).tail
    path.write_bytes(told("six") + told("two") + told("three"))
    step = read_on(path, tail)
    assert (step.state, spoken(step)) == (REWRITTEN, [(1, "six"), (2, "two"), (3, "three")])


def test_truncated_file_starts_over(path: Path) -> None:
    path.write_bytes(told("one") + told("two"))
    tail = read_on(path).tail
    os.truncate(path, len(told("one")))
    step = read_on(path, tail)
    assert (step.state, spoken(step)) == (REWRITTEN, [(1, "one")])
    os.truncate(path, 0)
    empty = read_on(path, step.tail)
    assert (empty.state, empty.lines, empty.tail.offset) == (REWRITTEN, (), 0)


def test_copy_in_the_place_of_a_file_is_read_on(path: Path) -> None:
    """A restored backup, or a program that writes its file anew with the same lines first."""
    path.write_bytes(told("one") + told("two"))
    tail = read_on(path).tail
    copy = path.with_name("copy")
    copy.write_bytes(told("one") + told("two") + told("three"))
    copy.replace(path)
    step = read_on(path, tail)
    assert (step.state, spoken(step)) == (GROWN, [(3, "three")])
    copy.write_bytes(told("one") + told("TWO") + told("three"))
    copy.replace(path)
    assert read_on(path, step.tail).state is REWRITTEN


def test_renamed_transcript_keeps_what_was_read(path: Path) -> None:
    path.write_bytes(told("one"))
    tail = read_on(path).tail
    name = "s.jsonl.reset.2026-01-01T00-00-00.000Z"
    path.rename(path.with_name(name))
    path.write_bytes(told("anew"))
    found = find_transcripts(path.parent).files
    assert renamed({"s.jsonl": tail}, found) == {"s.jsonl": name}
    assert read_on(path.with_name(name), tail).state is UNCHANGED
    step = read_on(path, tail)
    assert (step.state, spoken(step)) == (REWRITTEN, [(1, "anew")])


def test_gone_file_and_gone_folder_are_told_apart(tmp_path: Path) -> None:
    assert read_on(tmp_path / "s.jsonl").state is TranscriptState.GONE
    step = read_on(tmp_path / "unmounted" / "s.jsonl", Tail(FileStat(1, 2, 3, 4, 5), 3))
    assert (step.state, step.tail.offset) == (TranscriptState.UNREADABLE, 3)


def test_unknown_format_is_reported_and_not_guessed(path: Path) -> None:
    path.write_bytes(b'{"role":"user","content":"hello"}\n')
    assert (read_on(path).state, read_on(path).lines) == (TranscriptState.UNKNOWN, ())
    path.write_bytes(b'{"role":"user"')
    assert (read_on(path).state, read_on(path).tail.offset) == (UNCHANGED, 0)
    path.write_bytes(asked("hello"))
    assert read_on(path).tail.whose is TranscriptFormat.CLAUDE_CODE
    assert read_on(path, whose=TranscriptFormat.CLAUDE_CODE).state is GROWN
    misfit = read_on(path, START, whose=TranscriptFormat.OPENCLAW)
    assert (misfit.state, misfit.lines, misfit.tail.lines) == (TranscriptState.OTHER_FORMAT, (), 0)
    assert "claude-code" in misfit.problem
