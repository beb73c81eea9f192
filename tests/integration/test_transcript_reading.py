"""Reading transcripts continuously: real files that grow, are rewritten, renamed, replaced and damaged."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.transcripts.reading import START, Tail, TailRead, TranscriptState
from memoryd.domain.sessions.transcripts.records import TranscriptFormat
from memoryd.sessions.transcripts.folders import find_transcripts
from memoryd.sessions.transcripts.reading import read_next

GROWN, UNCHANGED, REWRITTEN = TranscriptState.GROWN, TranscriptState.UNCHANGED, TranscriptState.REWRITTEN


def openclaw(text: str, role: str = "user") -> bytes:
    """Return a line of an OpenClaw transcript."""
    return json.dumps({"type": "message", "message": {"role": role, "content": text}}).encode() + b"\n"


def claude_code(text: str) -> bytes:
    """Return a line of a Claude Code transcript."""
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}).encode() + b"\n"


def spoken(step: TailRead) -> list[tuple[int, str]]:
    return [(line.number, line.utterance.text) for line in step.lines]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_added_lines_are_read_once(path: Path) -> None:
    path.write_bytes(openclaw("one") + b'{"type":"custom"}\n')
    first = read_next(path)
    assert (first.state, spoken(first)) == (GROWN, [(1, "one")])
    assert (first.tail.lines, first.tail.offset) == (2, path.stat().st_size)
    append(path, openclaw("three", "assistant"))
    second = read_next(path, first.tail)
    assert (second.state, spoken(second)) == (GROWN, [(3, "three")])
    assert read_next(path, second.tail) == TailRead(UNCHANGED, second.tail)


def test_half_written_line_waits_for_its_end(path: Path) -> None:
    line = openclaw("über allem")
    for cut in range(len(line)):
        path.write_bytes(openclaw("one") + line[:cut])
        first = read_next(path)
        assert spoken(first) == [(1, "one")]
        append(path, line[cut:])
        assert spoken(read_next(path, first.tail)) == [(2, "über allem")]


def test_rewritten_file_starts_over(path: Path) -> None:
    path.write_bytes(openclaw("one") + openclaw("two"))
    tail = read_next(path).tail
    path.write_bytes(openclaw("six") + openclaw("two") + openclaw("three"))
    assert path.stat().st_ino == tail.stat.inode
    step = read_next(path, tail)
    assert (step.state, spoken(step)) == (REWRITTEN, [(1, "six"), (2, "two"), (3, "three")])


def test_truncated_file_starts_over(path: Path) -> None:
    path.write_bytes(openclaw("one") + openclaw("two"))
    tail = read_next(path).tail
    os.truncate(path, len(openclaw("one")))
    step = read_next(path, tail)
    assert (step.state, spoken(step)) == (REWRITTEN, [(1, "one")])
    os.truncate(path, 0)
    empty = read_next(path, step.tail)
    assert (empty.state, empty.lines, empty.tail.offset) == (REWRITTEN, (), 0)


def test_replacing_copy_with_same_beginning_is_read_on(path: Path) -> None:
    """A restored backup, or a program that rewrites its file with the same first lines."""
    path.write_bytes(openclaw("one") + openclaw("two"))
    tail = read_next(path).tail
    copy = path.with_name("copy")
    copy.write_bytes(openclaw("one") + openclaw("two") + openclaw("three"))
    copy.replace(path)
    step = read_next(path, tail)
    assert (step.state, spoken(step)) == (GROWN, [(3, "three")])
    copy.write_bytes(openclaw("one") + openclaw("TWO") + openclaw("three"))
    copy.replace(path)
    assert read_next(path, step.tail).state is REWRITTEN


def test_tail_follows_a_renamed_file(path: Path) -> None:
    path.write_bytes(openclaw("one"))
    tail = read_next(path).tail
    name = "s.jsonl.reset.2026-01-01T00-00-00.000Z"
    path.rename(path.with_name(name))
    path.write_bytes(openclaw("anew"))
    assert list(find_transcripts(path.parent).files) == ["s.jsonl", name]
    assert read_next(path.with_name(name), tail).state is UNCHANGED
    step = read_next(path, tail)
    assert (step.state, spoken(step)) == (REWRITTEN, [(1, "anew")])


def test_missing_file_and_missing_folder_are_distinguished(tmp_path: Path) -> None:
    assert read_next(tmp_path / "s.jsonl").state is TranscriptState.MISSING
    step = read_next(tmp_path / "unmounted" / "s.jsonl", Tail(FileStat(1, 2, 3, 4, 5), 3))
    assert (step.state, step.tail.offset) == (TranscriptState.UNREADABLE, 3)


def test_unknown_format_is_reported_and_not_guessed(path: Path) -> None:
    path.write_bytes(b'{"role":"user","content":"hello"}\n')
    assert (read_next(path).state, read_next(path).lines) == (TranscriptState.UNKNOWN, ())
    path.write_bytes(b'{"role":"user"')
    assert (read_next(path).state, read_next(path).tail.offset) == (UNCHANGED, 0)
    path.write_bytes(claude_code("hello"))
    assert read_next(path).tail.format is TranscriptFormat.CLAUDE_CODE
    assert read_next(path, format=TranscriptFormat.CLAUDE_CODE).state is GROWN
    misfit = read_next(path, START, format=TranscriptFormat.OPENCLAW)
    assert (misfit.state, misfit.lines, misfit.tail.lines) == (TranscriptState.OTHER_FORMAT, (), 0)
    assert "claude-code" in misfit.problem


def test_too_long_line_is_counted_and_skipped(path: Path) -> None:
    path.write_bytes(openclaw("one") + openclaw("x" * 5000) + openclaw("three"))
    step = read_next(path, max_line_bytes=1000)
    assert (spoken(step), step.counts) == ([(1, "one"), (3, "three")], {"spoken": 2, "too long": 1, "cut": 0})
    path.write_bytes(openclaw("one") + openclaw("x" * 5000)[:-1])
    step = read_next(path, max_line_bytes=1000)
    assert spoken(step) == [(1, "one")]
    append(path, b"\n" + openclaw("three"))
    step = read_next(path, step.tail, max_line_bytes=1000)
    assert (step.state, spoken(step), step.tail.lines) == (GROWN, [(3, "three")], 3)


def test_file_with_an_endless_line_is_given_up(path: Path) -> None:
    """A file that is mostly a hole, as after a crash, takes bounded time per read."""
    path.write_bytes(openclaw("one"))
    tail = read_next(path).tail
    os.truncate(path, 1 << 33)
    step = read_next(path, tail)
    assert (step.state, step.tail) == (TranscriptState.UNREADABLE, tail)
    assert "more than 256 MiB" in step.problem
    assert spoken(read_next(path)) == [(1, "one")]
    path.write_bytes(b"")
    os.truncate(path, 1 << 33)
    assert read_next(path).state is TranscriptState.UNREADABLE


def test_damaged_lines_are_skipped_alone(path: Path) -> None:
    path.write_bytes(
        b"\xef\xbb\xbf"
        + openclaw("first").replace(b"\n", b"\r\n")
        + b"\r\n"
        + b"\0" * 5000
        + openclaw("behind zeros")
        + b'{"type": "message", "message": {"role": "user"\n'
        + openclaw("caf\xe9").replace(b"\\u00e9", b"\xe9")
        + b"[" * 200_000
        + b"\n\xff\xfe\n"
        + openclaw("last")
    )
    step = read_next(path)
    assert spoken(step) == [(1, "first"), (3, "behind zeros"), (5, "caf\ufffd"), (8, "last")]
    assert step.counts == {"spoken": 4, "no message": 1, "unreadable": 3, "cut": 0}


def test_long_utterance_is_cut(path: Path) -> None:
    path.write_bytes(openclaw("word " * 200_000))
    step = read_next(path)
    assert (step.counts["cut"], len(step.lines[0].utterance.text) <= 1 << 18) == (1, True)


def test_transcript_marked_as_generated_has_no_further_messages(path: Path) -> None:
    path.write_bytes(openclaw("one"))
    tail = read_next(path).tail
    append(path, b'{"type":"custom","data":{"sessionKey":"agent:main:cron:4:run:2"}}\n' + openclaw("two"))
    step = read_next(path, tail)
    assert (step.lines, step.counts["dropped"], step.tail.is_generated) == ((), 1, True)
    append(path, openclaw("three"))
    assert read_next(path, step.tail).lines == ()


def test_bounded_steps_give_the_same_result(path: Path) -> None:
    path.write_bytes(b"".join(openclaw(f"number {number}") for number in range(1000)))
    whole = read_next(path)
    assert not whole.is_more
    tail, lines, steps = START, [], 0
    while True:
        step = read_next(path, tail, max_bytes=5000)
        assert step.tail.offset - tail.offset < 5000 + 100
        lines += spoken(step)
        tail, steps = step.tail, steps + 1
        if not step.is_more:
            break
    assert steps > 10
    assert (lines, tail) == (spoken(whole), whole.tail)


def test_edit_of_read_lines_is_noticed(path: Path) -> None:
    """The modification time may go forward, stay, or go back."""
    for later in (10**9, 0, -(10**12)):
        path.write_bytes(openclaw("x" * 5000) + openclaw("tea") + openclaw("y" * 5000))
        tail = read_next(path).tail
        content = path.read_bytes()
        path.write_bytes(content.replace(b"tea", b"TEA"))
        os.utime(path, ns=(0, tail.stat.mtime_ns + later))
        step = read_next(path, tail)
        assert (step.state, len(step.lines), step.lines[1].utterance.text) == (REWRITTEN, 3, "TEA")


def test_changed_modification_time_alone_changes_nothing(path: Path) -> None:
    path.write_bytes(openclaw("one"))
    tail = read_next(path).tail
    os.utime(path, (1, 1))
    step = read_next(path, tail)
    assert (step.state, step.lines, step.tail.offset) == (UNCHANGED, (), tail.offset)


def test_irregular_files_neither_block_nor_are_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(openclaw("secret"))
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "broken.jsonl").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "other.jsonl").write_bytes(openclaw("another project"))
    (tmp_path / "ours.jsonl").write_bytes(openclaw("ours"))
    found = find_transcripts(tmp_path)
    assert (list(found.files), found.problem) == (["ours.jsonl"], "")
    assert {file.path: file.reason for file in found.skipped} == {
        "broken.jsonl": "a symlink",
        "folder.jsonl": "not a regular file",
        "link.jsonl": "a symlink",
        "pipe.jsonl": "not a regular file",
    }
    for name in ("link.jsonl", "broken.jsonl", "pipe.jsonl", "folder.jsonl"):
        step = read_next(tmp_path / name)
        assert (step.state, step.lines, bool(step.problem)) == (TranscriptState.UNREADABLE, (), True)


def test_unreadable_folder_is_a_problem(tmp_path: Path) -> None:
    assert find_transcripts(tmp_path / "gone").problem
    assert find_transcripts(tmp_path).problem == ""
    for number in range(4):
        (tmp_path / f"{number}.jsonl").touch()
    assert "more than 3" in find_transcripts(tmp_path, max_entries=3).problem


def test_names_that_cannot_be_cited_are_reported(tmp_path: Path) -> None:
    for name in (b"\xff.jsonl", b"a\nb.jsonl", "\u202egnp.jsonl".encode()):
        (tmp_path / os.fsdecode(name)).write_bytes(openclaw("x"))
    found = find_transcripts(tmp_path)
    assert (found.files, len(found.skipped)) == ({}, 3)
    assert all(file.path.encode() and "cannot be cited" in file.reason for file in found.skipped)


def test_generated_sessions_are_skipped(tmp_path: Path) -> None:
    for name in ("said.jsonl", "timer.jsonl", "timer.jsonl.deleted.2026-01-01T00-00-00.000Z"):
        (tmp_path / name).write_bytes(openclaw("x"))
    (tmp_path / "sessions.json").write_text('{"agent:main:cron:1:run:2": {"sessionId": "timer"}}')
    found = find_transcripts(tmp_path)
    assert (list(found.files), found.skipped) == (["said.jsonl"], ())
    (tmp_path / "sessions.json").write_text('{"agent:main:main": {"sessionId": "timer"}}')
    assert len(find_transcripts(tmp_path).files) == 3
    (tmp_path / "sessions.json").write_text('{"agent:main:cron:1:run:2": ')
    assert len(find_transcripts(tmp_path).files) == 3


pieces = st.lists(
    st.sampled_from(
        [openclaw("hello"), openclaw("hi", "assistant"), openclaw("NO_REPLY", "assistant"), b"\n", b"{}\r\n"]
    )
    | st.binary(max_size=30),
    max_size=20,
)


@given(pieces, st.lists(st.integers(0, 2000), max_size=8), st.integers(1, 300))
def test_any_split_of_writes_gives_the_same_result(written: list[bytes], cuts: list[int], max_bytes: int) -> None:
    """Utterances and tail equal those of reading at once, except for the times of the file."""
    data = openclaw("first") + b"".join(written)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        tail, lines, at = START, list[tuple[int, str]](), 0
        for cut in [*sorted(cut % (len(data) + 1) for cut in cuts), len(data)]:
            append(path, data[at:cut])
            at = cut
            is_more = True
            while is_more:
                step = read_next(path, tail, max_bytes=max_bytes)
                assert step.state in (GROWN, UNCHANGED)
                lines += spoken(step)
                tail, is_more = step.tail, step.is_more
        whole = read_next(path)
        assert (lines, tail) == (spoken(whole), whole.tail)
