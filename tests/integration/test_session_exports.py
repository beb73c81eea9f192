"""Exports of transcripts on a real disk: their lines, what is written again, what goes, and what is never touched."""

import os
import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memoryd.domain.sessions.conversation_parts import MARK, export_name
from memoryd.sessions.transcripts import exports as session_exports
from memoryd.sessions.transcripts.exports import ExportSettings, SessionExports
from memoryd.sessions.transcripts.folders import AgentTranscripts, TranscriptFile, find_transcripts
from memoryd.sessions.transcripts.reading import read_next
from tests.transcripts_written import DAY, EVENT, answered, append, asked


class Exporting:
    """One agent with a folder of transcripts and one of exports."""

    def __init__(self, folder: Path, agent: str = "main", days: int | None = None) -> None:
        self.source, self.folder = folder / agent / "source", folder / "exports" / agent
        self.source.mkdir(parents=True, exist_ok=True)
        self.record = folder / agent / "exports.json"
        self.problem, self.withdrawn, self.now = "", 0, DAY
        self.withheld: set[str] = set()
        self.days = days
        self.start()

    def start(self, *, is_enabled: bool = True, refusal: Callable[[Path], str] = lambda _folder: "") -> None:
        settings = ExportSettings(self.folder, self.record, is_enabled, self.days, refusal)
        self.exports = SessionExports(settings, self._found, now_ns=lambda: int(self.now.timestamp() * 1e9))

    def _found(self) -> AgentTranscripts:
        found = find_transcripts(self.source)
        files = tuple(TranscriptFile(name, self.source / name, stat) for name, stat in found.files.items())
        return AgentTranscripts(files, self.problem or found.problem, self.withheld.__contains__)

    def transcript(self, name: str, *lines: bytes) -> Path:
        path = self.source / name
        path.write_bytes(b"".join(lines))
        return path

    def refresh(self) -> bool:
        return self.exports.refresh(self._note)

    def after(self) -> dict[str, str]:
        """Refresh until nothing is left to do, and return all files of the folder."""
        while not self.refresh():
            pass
        return {path.name: path.read_text() for path in self.folder.glob("*")} if self.folder.is_dir() else {}

    def _note(self) -> None:
        self.withdrawn += 1


def test_line_behind_the_heading_is_the_line_of_the_transcript(tmp_path: Path) -> None:
    exporting = Exporting(tmp_path)
    path = exporting.transcript(
        "s1.jsonl", EVENT, asked("Where is\n the heron?"), EVENT, answered("At the weir."), EVENT
    )
    expected = f"# Session s1\n\nUser: Where is the heron?\n\nAssistant: At the weir.\n{MARK}\n"
    assert exporting.after() == {"s1.session.md": expected}
    lines = expected.splitlines()
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        assert (number < len(lines) and bool(lines[number]) and lines[number] != MARK) is (b"message" in line)
    append(path, EVENT, asked("And now?"))
    assert exporting.after()["s1.session.md"] == expected.removesuffix(f"{MARK}\n") + f"\n\nUser: And now?\n{MARK}\n"
    assert not exporting.withdrawn


def test_export_is_for_its_owner_alone_and_as_old_as_what_was_said_last(tmp_path: Path) -> None:
    exporting = Exporting(tmp_path)
    exporting.transcript("s1.jsonl", asked("One?"), answered("Two.", DAY - timedelta(days=3)))
    exporting.after()
    made = (exporting.folder / "s1.session.md").stat()
    assert stat.S_IMODE(made.st_mode) == 0o600
    assert stat.S_IMODE(exporting.folder.stat().st_mode) == 0o700
    assert made.st_mtime == DAY.timestamp()


def test_only_what_has_grown_is_written_again_also_after_a_restart(tmp_path: Path) -> None:
    exporting = Exporting(tmp_path)
    exporting.transcript("s1.jsonl", asked("One?"))
    second = exporting.transcript("s2.jsonl", asked("Two?"))
    exporting.after()
    before = {name: (exporting.folder / name).stat().st_ino for name in ("s1.session.md", "s2.session.md")}
    exporting.start()
    append(second, EVENT)
    exporting.after()
    assert {name: (exporting.folder / name).stat().st_ino for name in before} == before, "nothing was said"
    append(second, answered("Yes."))
    exporting.after()
    assert (exporting.folder / "s1.session.md").stat().st_ino == before["s1.session.md"]
    assert (exporting.folder / "s2.session.md").read_text().count("Yes.") == 1


@pytest.mark.parametrize("change", ["rewritten", "truncated", "edited export", "lost record", "deleted export"])
def test_export_says_what_the_transcript_says_whatever_happened(tmp_path: Path, change: str) -> None:
    exporting = Exporting(tmp_path)
    path = exporting.transcript("s1.jsonl", asked("One?"), answered("Two."), asked("Three?"))
    whole = exporting.after()["s1.session.md"]
    exporting.start()
    export = exporting.folder / "s1.session.md"
    if change == "rewritten":
        path.write_bytes(asked("Another?") + answered("Other.") + asked("Further?"))
        whole = f"# Session s1\nUser: Another?\nAssistant: Other.\nUser: Further?\n{MARK}\n"
    elif change == "truncated":
        path.write_bytes(asked("One?"))
        whole = f"# Session s1\nUser: One?\n{MARK}\n"
    elif change == "edited export":
        export.write_text(f"# Session s1\nIt is edited.\n{MARK}\n")
    elif change == "lost record":
        exporting.record.unlink()
    else:
        export.unlink()
    assert exporting.after() == {"s1.session.md": whole}


def test_export_goes_with_its_transcript_and_that_is_told_first(tmp_path: Path) -> None:
    exporting = Exporting(tmp_path)
    gone = exporting.transcript("s1.jsonl", asked("One?"))
    exporting.transcript("s2.jsonl", asked("Two?"))
    exporting.transcript("s3.jsonl", asked("Three?"))
    assert len(exporting.after()) == 3
    gone.unlink()
    exporting.withheld.add("s2.jsonl")
    assert list(exporting.after()) == ["s3.session.md"]
    assert exporting.withdrawn
    exporting.source.rename(tmp_path / "elsewhere")
    assert list(exporting.after()) == ["s3.session.md"], "a folder that cannot be looked at proves nothing"
    exporting.withheld.add("s3.jsonl")
    assert exporting.after() == {}


def test_withheld_export_is_gone_at_once_and_qmd_is_told_in_the_next_round(tmp_path: Path) -> None:
    exporting = Exporting(tmp_path)
    exporting.transcript("s1.jsonl", asked("One?"))
    exporting.after()
    exporting.exports.withhold("s1.jsonl")
    assert not list(exporting.folder.glob("*"))
    assert exporting.exports.transcript_of("s1.session.md") == "s1.jsonl", "until the round, which must tell qmd"
    exporting.start()
    exporting.withheld.add("s1.jsonl")
    assert exporting.after() == {}
    assert exporting.withdrawn == 1, "a kill in between does not lose that"


def test_retention_goes_by_the_last_message_and_not_by_the_times_of_files(tmp_path: Path) -> None:
    exporting = Exporting(tmp_path, days=30)
    exporting.transcript(
        "new.jsonl", asked("New?", DAY - timedelta(days=40)), answered("Yes.", DAY - timedelta(days=29))
    )
    old = exporting.transcript("old.jsonl", asked("Old?", DAY - timedelta(days=31)))
    exclusions = exporting.transcript("untold.jsonl", asked("When?", None))
    os.utime(exclusions, (DAY.timestamp(), DAY.timestamp()))
    assert set(exporting.after()) == {"new.session.md", "untold.session.md"}
    exporting.now = DAY + timedelta(days=2)
    assert set(exporting.after()) == {"untold.session.md"}
    assert exporting.withdrawn
    append(old, answered("It goes on.", exporting.now))
    assert set(exporting.after()) == {"old.session.md", "untold.session.md"}
    exporting.now = DAY - timedelta(days=2)
    assert set(exporting.after()) == {"new.session.md", "old.session.md", "untold.session.md"}, "the clock went back"


def test_files_of_strangers_are_never_touched(tmp_path: Path) -> None:
    exporting = Exporting(tmp_path)
    exporting.folder.mkdir(parents=True)
    strangers = {
        "s1.session.md": "# Session s1\nMine.\n",
        "notes.md": "# Notes\n",
        "x.txt": "x",
        "fake.md": f"# Other\n{MARK}\n",
    }
    for name, text in strangers.items():
        (exporting.folder / name).write_text(text)
    (exporting.folder / "link.md").symlink_to(tmp_path / "elsewhere.md")
    os.mkfifo(exporting.folder / "pipe.md")
    exporting.transcript("s1.jsonl", asked("One?"))
    exporting.transcript("s2.jsonl", asked("Two?"))
    while not exporting.refresh():
        pass
    assert (exporting.folder / "s2.session.md").exists()
    assert "s1.jsonl: another file is at the place of its export" in exporting.exports.problem
    assert exporting.exports.transcript_of("s1.session.md") is None
    exporting.start(is_enabled=False)
    exporting.refresh()
    assert {name: (exporting.folder / name).read_text() for name in strangers} == strangers
    assert sorted(os.listdir(exporting.folder)) == sorted([*strangers, "link.md", "pipe.md"])  # noqa: PTH208


def test_switched_off_refused_and_moved_exports_leave_nothing_behind(tmp_path: Path) -> None:
    exporting = Exporting(tmp_path)
    exporting.transcript("s1.jsonl", asked("One?"))
    before = exporting.folder
    exporting.after()
    exporting.folder = tmp_path / "other"
    exporting.start()
    assert list(exporting.after()) == ["s1.session.md"]
    assert not before.exists()
    exporting.start(refusal=lambda folder: f"{folder.name} is refused")
    assert exporting.refresh()
    assert (exporting.exports.folder, exporting.exports.problem) == (None, "other is refused")
    assert not exporting.folder.exists()
    exporting.start()
    assert list(exporting.after()) == ["s1.session.md"]
    exporting.record.unlink()
    exporting.start(is_enabled=False)
    assert exporting.refresh()
    assert not exporting.folder.exists(), "the mark tells ours, too"
    assert exporting.withdrawn == 3


def test_hostile_names_stay_in_the_folder_and_apart(tmp_path: Path) -> None:
    exporting = Exporting(tmp_path)
    names = ["..jsonl", "S1.jsonl", "s1.jsonl", "a b.jsonl", "a-b.jsonl", "ä.jsonl", "x" * 200 + ".jsonl"]
    names += ["-rf.jsonl", "qmd:?*.jsonl", "s1.jsonl.reset.2026-10-06T12-00-00.000Z", "~.jsonl"]
    for name in names:
        exporting.transcript(name, asked(f"I am {name}?"))
    found = set(find_transcripts(exporting.source).files)
    exports = exporting.after()
    assert len(exports) == len(found) >= len(names) - 1
    assert {name.lower() for name in exports} == set(exports)
    for name, text in exports.items():
        transcript = exporting.exports.transcript_of(name)
        assert transcript is not None
        assert export_name(transcript) == name
        assert f"User: I am {transcript}?" in text


def test_what_is_said_cannot_end_an_export_or_begin_a_line(tmp_path: Path) -> None:
    exporting = Exporting(tmp_path)
    exporting.transcript(
        "s1.jsonl", asked(f"{MARK}\n{MARK}\n# Session x"), answered("\x1b[2J\u2028two\r\nlines\x85 \ud800")
    )
    assert exporting.after()["s1.session.md"].count("\n") == 4


def test_long_transcript_is_exported_in_rounds_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_exports, "ROUND_BYTES", 2000)
    monkeypatch.setattr(session_exports, "STEP_BYTES", 500)
    exporting = Exporting(tmp_path)
    exporting.transcript("s1.jsonl", *(asked(f"Question {number}?") for number in range(100)), *[EVENT] * 100)
    exporting.transcript("s2.jsonl", answered("NO_REPLY"), *[EVENT] * 200, asked("At the end?"))
    rounds = 0
    while not exporting.refresh():
        rounds += 1
    assert rounds > 4
    assert (exporting.folder / "s1.session.md").read_text().splitlines()[1:-1] == [
        f"User: Question {n}?" for n in range(100)
    ]
    assert (exporting.folder / "s2.session.md").read_text().splitlines()[202:] == ["User: At the end?", MARK]


def test_transcript_that_is_replaced_while_it_is_exported_leaves_lines_of_one_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_exports, "STEP_BYTES", 300)
    exporting = Exporting(tmp_path)
    path = exporting.transcript("s1.jsonl", *(asked(f"Old {number}?") for number in range(20)))
    real, steps = read_next, []

    def replacing(*arguments: Any, **named: Any) -> Any:
        steps.append(arguments)
        if len(steps) == 3:
            path.write_bytes(b"".join(asked(f"New {number}?") for number in range(10)))
        return real(*arguments, **named)

    monkeypatch.setattr(session_exports, "read_next", replacing)
    text = exporting.after()["s1.session.md"]
    assert len(steps) > 3
    assert text.splitlines()[1:-1] == [f"User: New {number}?" for number in range(10)]


def test_what_a_kill_left_half_written_is_cleared_away(tmp_path: Path) -> None:
    exporting = Exporting(tmp_path)
    exporting.transcript("s1.jsonl", asked("One?"))
    exporting.folder.mkdir(parents=True)
    (exporting.folder / ".memoryd-abcdefgh.draft").write_text("# Session s1\nUser: O")
    assert list(exporting.after()) == ["s1.session.md"]
    assert os.listdir(exporting.folder) == ["s1.session.md"]  # noqa: PTH208


def test_agents_share_a_folder_and_no_export(tmp_path: Path) -> None:
    first, second = Exporting(tmp_path, "a"), Exporting(tmp_path, "b")
    first.transcript("s1.jsonl", asked("The one of a?"))
    second.transcript("s1.jsonl", asked("The one of b?"))
    assert "of a?" in first.after()["s1.session.md"]
    assert "of b?" in second.after()["s1.session.md"]
    first.start(is_enabled=False)
    first.refresh()
    assert list(second.after()) == ["s1.session.md"]
