"""Reading transcripts on: real files that grow, are rewritten, renamed, replaced and damaged."""

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


def told(text: str, role: str = "user") -> bytes:
    """Return a line of OpenClaw's."""
    return json.dumps({"type": "message", "message": {"role": role, "content": text}}).encode() + b"\n"


def asked(text: str) -> bytes:
    """Return a line of Claude Code's."""
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}).encode() + b"\n"


def spoken(step: TailRead) -> list[tuple[int, str]]:
    return [(line.number, line.utterance.text) for line in step.lines]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_what_was_added_is_read_once(path: Path) -> None:
    path.write_bytes(told("one") + b'{"type":"custom"}\n')
    first = read_next(path)
    assert (first.state, spoken(first)) == (GROWN, [(1, "one")])
    assert (first.tail.lines, first.tail.offset) == (2, path.stat().st_size)
    append(path, told("three", "assistant"))
    second = read_next(path, first.tail)
    assert (second.state, spoken(second)) == (GROWN, [(3, "three")])
    assert read_next(path, second.tail) == TailRead(UNCHANGED, second.tail)


def test_half_written_line_waits_for_its_end(path: Path) -> None:
    line = told("über allem")
    for cut in range(len(line)):
        path.write_bytes(told("one") + line[:cut])
        first = read_next(path)
        assert spoken(first) == [(1, "one")]
        append(path, line[cut:])
        assert spoken(read_next(path, first.tail)) == [(2, "über allem")]


def test_rewritten_file_starts_over(path: Path) -> None:
    path.write_bytes(told("one") + told("two"))
    tail = read_next(path).tail
    path.write_bytes(told("six") + told("two") + told("three"))
    step = read_next(path, tail)
    assert (step.state, spoken(step)) == (REWRITTEN, [(1, "six"), (2, "two"), (3, "three")])


def test_truncated_file_starts_over(path: Path) -> None:
    path.write_bytes(told("one") + told("two"))
    tail = read_next(path).tail
    os.truncate(path, len(told("one")))
    step = read_next(path, tail)
    assert (step.state, spoken(step)) == (REWRITTEN, [(1, "one")])
    os.truncate(path, 0)
    empty = read_next(path, step.tail)
    assert (empty.state, empty.lines, empty.tail.offset) == (REWRITTEN, (), 0)


def test_copy_in_the_place_of_a_file_is_read_on(path: Path) -> None:
    """A restored backup, or a program that writes its file anew with the same lines first."""
    path.write_bytes(told("one") + told("two"))
    tail = read_next(path).tail
    copy = path.with_name("copy")
    copy.write_bytes(told("one") + told("two") + told("three"))
    copy.replace(path)
    step = read_next(path, tail)
    assert (step.state, spoken(step)) == (GROWN, [(3, "three")])
    copy.write_bytes(told("one") + told("TWO") + told("three"))
    copy.replace(path)
    assert read_next(path, step.tail).state is REWRITTEN


def test_tail_holds_under_a_new_name_and_not_for_another_file_under_the_old(path: Path) -> None:
    path.write_bytes(told("one"))
    tail = read_next(path).tail
    name = "s.jsonl.reset.2026-01-01T00-00-00.000Z"
    path.rename(path.with_name(name))
    path.write_bytes(told("anew"))
    assert list(find_transcripts(path.parent).files) == ["s.jsonl", name]
    assert read_next(path.with_name(name), tail).state is UNCHANGED
    step = read_next(path, tail)
    assert (step.state, spoken(step)) == (REWRITTEN, [(1, "anew")])


def test_gone_file_and_gone_folder_are_told_apart(tmp_path: Path) -> None:
    assert read_next(tmp_path / "s.jsonl").state is TranscriptState.MISSING
    step = read_next(tmp_path / "unmounted" / "s.jsonl", Tail(FileStat(1, 2, 3, 4, 5), 3))
    assert (step.state, step.tail.offset) == (TranscriptState.UNREADABLE, 3)


def test_unknown_format_is_reported_and_not_guessed(path: Path) -> None:
    path.write_bytes(b'{"role":"user","content":"hello"}\n')
    assert (read_next(path).state, read_next(path).lines) == (TranscriptState.UNKNOWN, ())
    path.write_bytes(b'{"role":"user"')
    assert (read_next(path).state, read_next(path).tail.offset) == (UNCHANGED, 0)
    path.write_bytes(asked("hello"))
    assert read_next(path).tail.format is TranscriptFormat.CLAUDE_CODE
    assert read_next(path, format=TranscriptFormat.CLAUDE_CODE).state is GROWN
    misfit = read_next(path, START, format=TranscriptFormat.OPENCLAW)
    assert (misfit.state, misfit.lines, misfit.tail.lines) == (TranscriptState.OTHER_FORMAT, (), 0)
    assert "claude-code" in misfit.problem


def test_line_that_is_too_long_is_counted_and_passed_over(path: Path) -> None:
    path.write_bytes(told("one") + told("x" * 5000) + told("three"))
    step = read_next(path, max_line_bytes=1000)
    assert (spoken(step), step.counts) == ([(1, "one"), (3, "three")], {"spoken": 2, "too long": 1, "cut": 0})
    path.write_bytes(told("one") + told("x" * 5000)[:-1])
    step = read_next(path, max_line_bytes=1000)
    assert spoken(step) == [(1, "one")]
    append(path, b"\n" + told("three"))
    step = read_next(path, step.tail, max_line_bytes=1000)
    assert (step.state, spoken(step), step.tail.lines) == (GROWN, [(3, "three")], 3)


def test_file_of_one_endless_line_is_given_up(path: Path) -> None:
    """A file that is nearly all hole, as a crash leaves it, costs a bounded time at each look."""
    path.write_bytes(told("one"))
    tail = read_next(path).tail
    os.truncate(path, 1 << 33)
    step = read_next(path, tail)
    assert (step.state, step.tail) == (TranscriptState.UNREADABLE, tail)
    assert "more than 256 MiB" in step.problem
    assert spoken(read_next(path)) == [(1, "one")]
    path.write_bytes(b"")
    os.truncate(path, 1 << 33)
    assert read_next(path).state is TranscriptState.UNREADABLE


def test_damaged_lines_cost_only_themselves(path: Path) -> None:
    path.write_bytes(
        b"\xef\xbb\xbf"
        + told("first").replace(b"\n", b"\r\n")
        + b"\r\n"
        + b"\0" * 5000
        + told("behind zeros")
        + b'{"type": "message", "message": {"role": "user"\n'
        + told("caf\xe9").replace(b"\\u00e9", b"\xe9")
        + b"[" * 200_000
        + b"\n\xff\xfe\n"
        + told("last")
    )
    step = read_next(path)
    assert spoken(step) == [(1, "first"), (3, "behind zeros"), (5, "caf\ufffd"), (8, "last")]
    assert step.counts == {"spoken": 4, "no message": 1, "unreadable": 3, "cut": 0}


def test_more_was_said_than_is_kept_of_one_utterance(path: Path) -> None:
    path.write_bytes(told("word " * 200_000))
    step = read_next(path)
    assert (step.counts["cut"], len(step.lines[0].utterance.text) <= 1 << 18) == (1, True)


def test_transcript_of_a_timer_says_nothing_from_where_it_is_told(path: Path) -> None:
    path.write_bytes(told("one"))
    tail = read_next(path).tail
    append(path, b'{"type":"custom","data":{"sessionKey":"agent:main:cron:4:run:2"}}\n' + told("two"))
    step = read_next(path, tail)
    assert (step.lines, step.counts["dropped"], step.tail.is_generated) == ((), 1, True)
    append(path, told("three"))
    assert read_next(path, step.tail).lines == ()


def test_steps_are_bounded_and_lead_to_the_same(path: Path) -> None:
    path.write_bytes(b"".join(told(f"number {number}") for number in range(1000)))
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


def test_edit_within_what_was_read_is_seen_at_once(path: Path) -> None:
    """Whether the time of change goes forward, stays, or goes back."""
    for later in (10**9, 0, -(10**12)):
        path.write_bytes(told("x" * 5000) + told("tea") + told("y" * 5000))
        tail = read_next(path).tail
        content = path.read_bytes()
        path.write_bytes(content.replace(b"tea", b"TEA"))
        os.utime(path, ns=(0, tail.stat.mtime_ns + later))
        step = read_next(path, tail)
        assert (step.state, len(step.lines), step.lines[1].utterance.text) == (REWRITTEN, 3, "TEA")


def test_time_of_change_alone_changes_nothing(path: Path) -> None:
    path.write_bytes(told("one"))
    tail = read_next(path).tail
    os.utime(path, (1, 1))
    step = read_next(path, tail)
    assert (step.state, step.lines, step.tail.offset) == (UNCHANGED, (), tail.offset)


def test_other_content_with_the_same_inode_is_not_the_same_transcript(path: Path) -> None:
    """File systems give numbers again; and a program may write over a file through its name."""
    path.write_bytes(told("one") + told("two"))
    tail = read_next(path).tail
    path.write_bytes(told("six") + told("ten") + told("more"))
    assert path.stat().st_ino == tail.stat.inode
    assert spoken(read_next(path, tail)) == [(1, "six"), (2, "ten"), (3, "more")]


def test_what_is_no_regular_file_neither_blocks_nor_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(told("secret"))
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "broken.jsonl").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "other.jsonl").write_bytes(told("another project"))
    (tmp_path / "ours.jsonl").write_bytes(told("ours"))
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


def test_folder_that_cannot_be_read_is_a_problem_and_no_deletion(tmp_path: Path) -> None:
    assert find_transcripts(tmp_path / "gone").problem
    assert find_transcripts(tmp_path).problem == ""
    for number in range(4):
        (tmp_path / f"{number}.jsonl").touch()
    assert "more than 3" in find_transcripts(tmp_path, max_entries=3).problem


def test_names_that_cannot_be_cited_are_reported(tmp_path: Path) -> None:
    for name in (b"\xff.jsonl", b"a\nb.jsonl", "\u202egnp.jsonl".encode()):
        (tmp_path / os.fsdecode(name)).write_bytes(told("x"))
    found = find_transcripts(tmp_path)
    assert (found.files, len(found.skipped)) == ({}, 3)
    assert all(file.path.encode() and "cannot be cited" in file.reason for file in found.skipped)


def test_sessions_that_the_list_calls_generated_are_left_out(tmp_path: Path) -> None:
    for name in ("said.jsonl", "timer.jsonl", "timer.jsonl.deleted.2026-01-01T00-00-00.000Z"):
        (tmp_path / name).write_bytes(told("x"))
    (tmp_path / "sessions.json").write_text('{"agent:main:cron:1:run:2": {"sessionId": "timer"}}')
    found = find_transcripts(tmp_path)
    assert (list(found.files), found.skipped) == (["said.jsonl"], ())
    (tmp_path / "sessions.json").write_text('{"agent:main:main": {"sessionId": "timer"}}')
    assert len(find_transcripts(tmp_path).files) == 3
    (tmp_path / "sessions.json").write_text('{"agent:main:cron:1:run:2": ')
    assert len(find_transcripts(tmp_path).files) == 3


pieces = st.lists(
    st.sampled_from([told("hello"), told("hi", "assistant"), told("NO_REPLY", "assistant"), b"\n", b"{}\r\n"])
    | st.binary(max_size=30),
    max_size=20,
)


@given(pieces, st.lists(st.integers(0, 2000), max_size=8), st.integers(1, 300))
def test_any_split_of_what_is_written_gives_the_same(written: list[bytes], cuts: list[int], max_bytes: int) -> None:
    """The same utterances and the same tail as reading it at once, but for the times of the file."""
    data = told("first") + b"".join(written)
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
