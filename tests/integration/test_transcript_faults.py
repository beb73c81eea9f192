"""Transcripts that others write while they are read, of any size and content."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from memoryd.domain.sessions.transcripts.reading import START, Tail, TailRead, TranscriptState
from memoryd.sessions.transcripts.reading import read_next
from tests.sweeps import swept, whole_or

KEPT = {TranscriptState.GROWN, TranscriptState.UNCHANGED, TranscriptState.UNREADABLE}

APPEND = """
import os, random, sys
data, out = open(sys.argv[1], "rb").read(), os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
chance, at = random.Random(7), 0
while at < len(data):
    size = chance.choice((1, 7, 100, 4096, 70_000))
    at += os.write(out, data[at : at + size])
"""

REWRITE = """
import os, random, sys
target, chance = sys.argv[-1], random.Random(7)
for version in sys.argv[1:-1]:
    data, at = open(version, "rb").read(), 0
    # in place, as a program that opens its file with "w"; every third one by a rename
    name = target if chance.random() < 0.7 else target + ".tmp"
    out = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    while at < len(data):
        at += os.write(out, data[at : at + chance.choice((100, 4096, 70_000))])
    os.close(out)
    if name != target:
        os.replace(name, target)
"""


def line(text: str) -> bytes:
    return json.dumps({"type": "message", "message": {"role": "user", "content": text}}).encode() + b"\n"


class Follower:
    """Keeps rows of a transcript like an index: each step is applied with its tail, or not at all."""

    def __init__(self, path: Path, max_bytes: int = 1 << 16) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.tail: Tail = START
        self.rows: dict[int, str] = {}

    def step(self) -> TailRead:
        step = read_next(self.path, self.tail, max_bytes=self.max_bytes)
        if step.state not in KEPT:
            self.rows.clear()
        self.rows |= {one.number: one.utterance.text for one in step.lines}
        self.tail = step.tail
        return step

    def rest(self) -> dict[int, str]:
        """Read until nothing is left, and return the rows."""
        while True:
            step = self.step()
            if step.state is TranscriptState.UNCHANGED and not step.is_more:
                return self.rows


def expected(data: bytes) -> dict[int, str]:
    lines = data.decode().splitlines()
    return {number: json.loads(one)["message"]["content"] for number, one in enumerate(lines, 1)}


@pytest.mark.sweep
def test_lines_appended_by_another_process_are_read_once(tmp_path: Path) -> None:
    chance = random.Random(1)
    data = b"".join(line(f"{number} " + "word " * chance.randint(0, 300)) for number in range(whole_or(1_000, 3_000)))
    data = data.replace(b' "}', b'"}')
    (tmp_path / "data").write_bytes(data)
    path = tmp_path / "s.jsonl"
    path.touch()
    follower, states = Follower(path), set()
    with subprocess.Popen([sys.executable, "-c", APPEND, str(tmp_path / "data"), str(path)]) as writer:
        while writer.poll() is None:
            before = len(follower.rows)
            step = follower.step()
            states.add(step.state)
            assert len(follower.rows) == before + len(step.lines), "no line is read twice"
    assert (follower.rest(), writer.returncode) == (expected(data), 0)
    assert states <= {TranscriptState.GROWN, TranscriptState.UNCHANGED}


def test_rows_are_never_of_two_versions_during_rewrites(tmp_path: Path) -> None:
    versions = [version(number) for number in range(40)]
    for number, data in enumerate(versions):
        (tmp_path / f"version-{number:02}").write_bytes(data)
    path = tmp_path / "s.jsonl"
    path.write_bytes(versions[-1])
    follower = Follower(path)
    command = [sys.executable, "-c", REWRITE, *map(str, sorted(tmp_path.glob("version-*"))), str(path)]
    with subprocess.Popen(command) as writer:
        while writer.poll() is None:
            follower.step()
            assert len({text.split()[0] for text in follower.rows.values()} - {"head"}) <= 1
    assert (follower.rest(), writer.returncode) == (expected(versions[-1]), 0)


def version(number: int) -> bytes:
    """Return a transcript with a common beginning; its length varies with the number."""
    head = b"".join(line(f"head {at} " + "x" * 80) for at in range(60))
    return head + b"".join(line(f"v{number} {at} " + "x" * 80) for at in range(500 + 700 * (number % 4)))


def overwritten(path: Path, data: bytes) -> None:
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()


def replaced(path: Path, data: bytes) -> None:
    other = path.with_suffix(".tmp")
    other.write_bytes(data)
    other.replace(path)


@swept("change", [overwritten, replaced], 1)
@swept("later", [1, 2, 3], 1)
def test_change_between_any_two_reads_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path, bytes], None], later: int
) -> None:
    """Whichever read the change precedes, only the new content is kept in the end."""
    path = tmp_path / "s.jsonl"
    reads = Reads(lambda: change(path, version(later)))
    for moment in count(1):
        path.write_bytes(version(0))
        follower = Follower(path)
        follower.step()
        path.write_bytes(version(0) + line("v0 more"))
        reads.calls, reads.moment = 0, moment
        with monkeypatch.context() as patched:
            patched.setattr(os, "pread", reads.pread)
            follower.step()
        if reads.calls < moment:
            break
        assert follower.rest() == expected(version(later)), moment
    assert moment > 5


class Reads:
    """Reads like the system, and runs a function before one of the reads."""

    def __init__(self, happen: Callable[[], None]) -> None:
        self._happen = happen
        self._pread = os.pread
        self.calls = 0
        self.moment = 0

    def pread(self, descriptor: int, size: int, offset: int) -> bytes:
        self.calls += 1
        if self.calls == self.moment:
            self._happen()
        return self._pread(descriptor, size, offset)


PEAK = """
import json, resource, sys
from pathlib import Path
from memoryd.domain.sessions.transcripts.reading import START
from memoryd.sessions.transcripts.reading import read_next

def peak():
    # the resource usage starts with the peak of the parent, the status of the address space does not
    if sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(status["VmHWM"].split()[0]) << 10

tail, spoken, steps, last = START, 0, 0, ""
before = peak()
while True:
    step = read_next(Path(sys.argv[1]), tail)
    tail, spoken, steps = step.tail, spoken + len(step.lines), steps + 1
    last = step.lines[-1].utterance.text if step.lines else last
    if not step.is_more:
        break
again = read_next(Path(sys.argv[1]), tail).state
print(json.dumps([tail.lines, spoken, steps, last, again, peak() - before]))
"""


@pytest.mark.sweep
def test_large_transcript_is_read_in_bounded_memory(tmp_path: Path) -> None:
    """In steps, with a line beyond all limits, in a process whose memory is measured."""
    path = tmp_path / "s.jsonl"
    rounds = whole_or(400, 1800)
    result = json.dumps({"type": "message", "message": {"role": "toolResult", "content": "x" * 100_000}}).encode()
    with path.open("wb") as file:
        for number in range(rounds):
            file.write(line(f"question {number}") + result + b"\n")
        file.write(line("y" * (40 << 20)) + line("the last"))
    done = subprocess.run([sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True)
    lines, spoken, steps, *found, grown = json.loads(done.stdout)
    assert (lines, spoken) == (2 * rounds + 2, rounds + 1)
    assert steps > rounds // 45
    assert found == ["the last", "unchanged"]
    assert grown < 28 << 20, "the longest line that is read, and a few blocks"


@pytest.mark.sweep
def test_hostile_content_is_read_quickly_and_loses_no_other_line(tmp_path: Path) -> None:
    """An unclosed fence, endless brackets, nested envelopes: megabytes each when all is tried."""
    path = tmp_path / "s.jsonl"
    # escaping makes some of them half as long again
    size = whole_or(600_000, 5_000_000)
    hostile = [
        "[" * size,
        "Sender (untrusted metadata):\n```json\n" * (size // 37),
        "Context:\n<active_memory_plugin>\n" * (size // 32),
        "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n" * (size // 38),
        "```\n" * (size // 4),
        "\x1b]\x9d" * (size // 3),
        "System: [" * (size // 9),
    ]
    with path.open("wb") as file:
        for text in hostile:
            file.write(line(text))
        file.write(b"[" * size + b"\n" + b'{"a":' * (size // 5) + b"\n" + line("the last"))
    follower = Follower(path, 4 << 20)
    rows = follower.rest()
    assert (follower.tail.lines, rows[len(hostile) + 3]) == (len(hostile) + 3, "the last")
    assert all(len(text) <= 1 << 18 for text in rows.values())


def record_with(content: bytes) -> bytes:
    return b'{"type":"message","message":{"role":"user","content":%s}}\n' % content


@pytest.mark.sweep
def test_line_with_too_many_values_is_skipped_in_bounded_memory(tmp_path: Path) -> None:
    """Each list, object and number takes many times the size of its text."""
    path, size = tmp_path / "s.jsonl", whole_or(2, 7) << 20
    values = [b"[]", b"{}", b'{"a":1}', b"1e5", b'""', b"[[[[[]]]]]", b'{"a":[]}']
    hostile = [record_with(b"[" + b",".join([one] * (size // (len(one) + 1))) + b"]") for one in values]
    hostile += [b'{"a":' + b'"' + b'\\"' * (size // 3) + b"," * 300_000 + b"\\", b'"' + b',"' * (size // 2)]
    text = line("a, b, " * 100_000)
    path.write_bytes(line("one") + b"".join(one.rstrip(b"\n") + b"\n" for one in hostile) + text + line("the last"))
    done = subprocess.run([sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True)
    lines, spoken, _, *found, grown = json.loads(done.stdout)
    assert (lines, spoken) == (len(hostile) + 3, 3)
    assert found == ["the last", "unchanged"]
    assert grown < 64 << 20, f"{grown >> 20} MiB"
    counts = Follower(path, 1 << 30).step().counts
    # separators inside a text do not count
    assert (counts["spoken"], counts["too many values"] + counts["unreadable"]) == (3, len(hostile))
