"""Journals of machines as files: bounded, private, append-only, with one sentence per problem."""

import stat
from pathlib import Path

from memoryd.domain.memories.machines import MACHINES, MachineEntry, signed_line
from memoryd.files.machine_journals import AHEAD_SECONDS, MAX_BYTES, MAX_JOURNALS, read_journals, write_journal

KEY = bytes(range(32))
NOW = 1_800_000_000.0


def line(number: int, at: float = NOW, machine: str = "a") -> bytes:
    return signed_line(MachineEntry(machine=machine, number=number, at=at, verb="used", name="0" * 32, count=1), KEY)


def test_journal_is_private_and_appended_to(tmp_path: Path) -> None:
    path = tmp_path / MACHINES / "a.jsonl"
    assert read_journals(tmp_path, KEY, {}) == []
    write_journal(path, line(1), is_anew=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    (first,) = read_journals(tmp_path, KEY, {})
    write_journal(path, line(2), is_anew=False)
    (second,) = read_journals(tmp_path, KEY, {path: first})
    assert [one.number for one in second.entries] == [1, 2]
    assert second.last == line(2)
    # an unchanged journal is not read again
    assert read_journals(tmp_path, KEY, {path: second})[0] is second
    write_journal(path, line(3), is_anew=True)
    assert [one.number for one in read_journals(tmp_path, KEY, {path: second})[0].entries] == [3]


def test_problems_are_reported_per_journal(tmp_path: Path) -> None:
    folder = tmp_path / MACHINES
    folder.mkdir(parents=True)
    (folder / "cut.jsonl").write_bytes(line(1) + line(2)[:-9])
    (folder / "ahead.jsonl").write_bytes(line(1, NOW + AHEAD_SECONDS + 60))
    (folder / "a.sync-conflict-20261128-080001-ABCDEFG.jsonl").write_bytes(line(1))
    (folder / "well.jsonl").write_bytes(line(1))
    with (folder / "huge.jsonl").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    (folder / "link.jsonl").symlink_to(folder / "well.jsonl")
    (folder / "folder.jsonl").mkdir()
    problems = {
        one.path.name.partition(".")[0]: " ".join(one.problems(NOW)) for one in read_journals(tmp_path, KEY, {})
    }
    assert problems.pop("well") == ""
    assert "another secret: 1 of its lines" in problems["cut"]
    assert "more than a day ahead" in problems["ahead"]
    assert "two machines had one id" in problems["a"]
    assert "too large" in problems["huge"]
    assert "cannot be read" in problems["link"]
    assert problems["folder"]
    (cut,) = [one for one in read_journals(tmp_path, KEY, {}) if one.path.name == "cut.jsonl"]
    assert [one.number for one in cut.entries] == [1]


def test_number_of_journals_read_is_bounded(tmp_path: Path) -> None:
    (tmp_path / MACHINES).mkdir(parents=True)
    for number in range(MAX_JOURNALS + 5):
        (tmp_path / MACHINES / f"{number:03}.jsonl").write_bytes(line(1))
    assert len(read_journals(tmp_path, KEY, {})) == MAX_JOURNALS
