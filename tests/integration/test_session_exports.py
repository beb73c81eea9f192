"""Exports of transcripts on a real disk: their lines, updates and deletion, and foreign files."""

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


class Exporter:
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


def test_export_line_follows_its_transcript_line(tmp_path: Path) -> None:
    exporter = Exporter(tmp_path)
    path = exporter.transcript(
        "s1.jsonl", EVENT, asked("Where is\n the heron?"), EVENT, answered("At the weir."), EVENT
    )
    expected = f"# Session s1\n\nUser: Where is the heron?\n\nAssistant: At the weir.\n{MARK}\n"
    assert exporter.after() == {"s1.session.md": expected}
    lines = expected.splitlines()
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        assert (number < len(lines) and bool(lines[number]) and lines[number] != MARK) is (b"message" in line)
    append(path, EVENT, asked("And now?"))
    assert exporter.after()["s1.session.md"] == expected.removesuffix(f"{MARK}\n") + f"\n\nUser: And now?\n{MARK}\n"
    assert not exporter.withdrawn


def test_export_is_private_and_dated_by_its_last_message(tmp_path: Path) -> None:
    exporter = Exporter(tmp_path)
    exporter.transcript("s1.jsonl", asked("One?"), answered("Two.", DAY - timedelta(days=3)))
    exporter.after()
    made = (exporter.folder / "s1.session.md").stat()
    assert stat.S_IMODE(made.st_mode) == 0o600
    assert stat.S_IMODE(exporter.folder.stat().st_mode) == 0o700
    assert made.st_mtime == DAY.timestamp()


def test_only_grown_transcripts_are_exported_again(tmp_path: Path) -> None:
    exporter = Exporter(tmp_path)
    exporter.transcript("s1.jsonl", asked("One?"))
    second = exporter.transcript("s2.jsonl", asked("Two?"))
    exporter.after()
    before = {name: (exporter.folder / name).stat().st_ino for name in ("s1.session.md", "s2.session.md")}
    exporter.start()
    append(second, EVENT)
    exporter.after()
    assert {name: (exporter.folder / name).stat().st_ino for name in before} == before, "there was no message"
    append(second, answered("Yes."))
    exporter.after()
    assert (exporter.folder / "s1.session.md").stat().st_ino == before["s1.session.md"]
    assert (exporter.folder / "s2.session.md").read_text().count("Yes.") == 1


@pytest.mark.parametrize("change", ["rewritten", "truncated", "edited export", "lost record", "deleted export"])
def test_export_equals_transcript_after_any_change(tmp_path: Path, change: str) -> None:
    exporter = Exporter(tmp_path)
    path = exporter.transcript("s1.jsonl", asked("One?"), answered("Two."), asked("Three?"))
    whole = exporter.after()["s1.session.md"]
    exporter.start()
    export = exporter.folder / "s1.session.md"
    if change == "rewritten":
        path.write_bytes(asked("Another?") + answered("Other.") + asked("Further?"))
        whole = f"# Session s1\nUser: Another?\nAssistant: Other.\nUser: Further?\n{MARK}\n"
    elif change == "truncated":
        path.write_bytes(asked("One?"))
        whole = f"# Session s1\nUser: One?\n{MARK}\n"
    elif change == "edited export":
        export.write_text(f"# Session s1\nIt is edited.\n{MARK}\n")
    elif change == "lost record":
        exporter.record.unlink()
    else:
        export.unlink()
    assert exporter.after() == {"s1.session.md": whole}


def test_export_of_deleted_or_withheld_transcript_is_deleted(tmp_path: Path) -> None:
    exporter = Exporter(tmp_path)
    gone = exporter.transcript("s1.jsonl", asked("One?"))
    exporter.transcript("s2.jsonl", asked("Two?"))
    exporter.transcript("s3.jsonl", asked("Three?"))
    assert len(exporter.after()) == 3
    gone.unlink()
    exporter.withheld.add("s2.jsonl")
    assert list(exporter.after()) == ["s3.session.md"]
    assert exporter.withdrawn
    exporter.source.rename(tmp_path / "elsewhere")
    assert list(exporter.after()) == ["s3.session.md"], "a missing folder proves nothing"
    exporter.withheld.add("s3.jsonl")
    assert exporter.after() == {}


def test_withheld_export_is_deleted_at_once(tmp_path: Path) -> None:
    exporter = Exporter(tmp_path)
    exporter.transcript("s1.jsonl", asked("One?"))
    exporter.after()
    exporter.exports.withhold("s1.jsonl")
    assert not list(exporter.folder.glob("*"))
    assert exporter.exports.transcript_of("s1.session.md") == "s1.jsonl", "until the next round, which informs qmd"
    exporter.start()
    exporter.withheld.add("s1.jsonl")
    assert exporter.after() == {}
    assert exporter.withdrawn == 1, "a kill in between does not prevent it"


def test_retention_is_counted_from_the_last_message(tmp_path: Path) -> None:
    exporter = Exporter(tmp_path, days=30)
    exporter.transcript(
        "new.jsonl", asked("New?", DAY - timedelta(days=40)), answered("Yes.", DAY - timedelta(days=29))
    )
    old = exporter.transcript("old.jsonl", asked("Old?", DAY - timedelta(days=31)))
    exclusions = exporter.transcript("untold.jsonl", asked("When?", None))
    os.utime(exclusions, (DAY.timestamp(), DAY.timestamp()))
    assert set(exporter.after()) == {"new.session.md", "untold.session.md"}
    exporter.now = DAY + timedelta(days=2)
    assert set(exporter.after()) == {"untold.session.md"}
    assert exporter.withdrawn
    append(old, answered("It goes on.", exporter.now))
    assert set(exporter.after()) == {"old.session.md", "untold.session.md"}
    exporter.now = DAY - timedelta(days=2)
    assert set(exporter.after()) == {"new.session.md", "old.session.md", "untold.session.md"}, "the clock was set back"


def test_foreign_files_are_never_touched(tmp_path: Path) -> None:
    exporter = Exporter(tmp_path)
    exporter.folder.mkdir(parents=True)
    strangers = {
        "s1.session.md": "# Session s1\nMine.\n",
        "notes.md": "# Notes\n",
        "x.txt": "x",
        "fake.md": f"# Other\n{MARK}\n",
    }
    for name, text in strangers.items():
        (exporter.folder / name).write_text(text)
    (exporter.folder / "link.md").symlink_to(tmp_path / "elsewhere.md")
    os.mkfifo(exporter.folder / "pipe.md")
    exporter.transcript("s1.jsonl", asked("One?"))
    exporter.transcript("s2.jsonl", asked("Two?"))
    while not exporter.refresh():
        pass
    assert (exporter.folder / "s2.session.md").exists()
    assert "s1.jsonl: another file is at the place of its export" in exporter.exports.problem
    assert exporter.exports.transcript_of("s1.session.md") is None
    exporter.start(is_enabled=False)
    exporter.refresh()
    assert {name: (exporter.folder / name).read_text() for name in strangers} == strangers
    assert sorted(os.listdir(exporter.folder)) == sorted([*strangers, "link.md", "pipe.md"])  # noqa: PTH208


def test_disabled_refused_or_moved_exports_are_deleted(tmp_path: Path) -> None:
    exporter = Exporter(tmp_path)
    exporter.transcript("s1.jsonl", asked("One?"))
    before = exporter.folder
    exporter.after()
    exporter.folder = tmp_path / "other"
    exporter.start()
    assert list(exporter.after()) == ["s1.session.md"]
    assert not before.exists()
    exporter.start(refusal=lambda folder: f"{folder.name} is refused")
    assert exporter.refresh()
    assert (exporter.exports.folder, exporter.exports.problem) == (None, "other is refused")
    assert not exporter.folder.exists()
    exporter.start()
    assert list(exporter.after()) == ["s1.session.md"]
    exporter.record.unlink()
    exporter.start(is_enabled=False)
    assert exporter.refresh()
    assert not exporter.folder.exists(), "the mark also identifies our files"
    assert exporter.withdrawn == 3


def test_hostile_names_stay_in_the_folder_and_distinct(tmp_path: Path) -> None:
    exporter = Exporter(tmp_path)
    names = ["..jsonl", "S1.jsonl", "s1.jsonl", "a b.jsonl", "a-b.jsonl", "ä.jsonl", "x" * 200 + ".jsonl"]
    names += ["-rf.jsonl", "qmd:?*.jsonl", "s1.jsonl.reset.2026-10-06T12-00-00.000Z", "~.jsonl"]
    for name in names:
        exporter.transcript(name, asked(f"I am {name}?"))
    found = set(find_transcripts(exporter.source).files)
    exports = exporter.after()
    assert len(exports) == len(found) >= len(names) - 1
    assert {name.lower() for name in exports} == set(exports)
    for name, text in exports.items():
        transcript = exporter.exports.transcript_of(name)
        assert transcript is not None
        assert export_name(transcript) == name
        assert f"User: I am {transcript}?" in text


def test_message_cannot_end_an_export_or_begin_a_line(tmp_path: Path) -> None:
    exporter = Exporter(tmp_path)
    exporter.transcript(
        "s1.jsonl", asked(f"{MARK}\n{MARK}\n# Session x"), answered("\x1b[2J\u2028two\r\nlines\x85 \ud800")
    )
    assert exporter.after()["s1.session.md"].count("\n") == 4


def test_long_transcript_is_exported_in_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_exports, "ROUND_BYTES", 2000)
    monkeypatch.setattr(session_exports, "STEP_BYTES", 500)
    exporter = Exporter(tmp_path)
    exporter.transcript("s1.jsonl", *(asked(f"Question {number}?") for number in range(100)), *[EVENT] * 100)
    exporter.transcript("s2.jsonl", answered("NO_REPLY"), *[EVENT] * 200, asked("At the end?"))
    rounds = 0
    while not exporter.refresh():
        rounds += 1
    assert rounds > 4
    assert (exporter.folder / "s1.session.md").read_text().splitlines()[1:-1] == [
        f"User: Question {n}?" for n in range(100)
    ]
    assert (exporter.folder / "s2.session.md").read_text().splitlines()[202:] == ["User: At the end?", MARK]


def test_transcript_replaced_during_export_is_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_exports, "STEP_BYTES", 300)
    exporter = Exporter(tmp_path)
    path = exporter.transcript("s1.jsonl", *(asked(f"Old {number}?") for number in range(20)))
    real, steps = read_next, []

    def replacing(*arguments: Any, **named: Any) -> Any:
        steps.append(arguments)
        if len(steps) == 3:
            path.write_bytes(b"".join(asked(f"New {number}?") for number in range(10)))
        return real(*arguments, **named)

    monkeypatch.setattr(session_exports, "read_next", replacing)
    text = exporter.after()["s1.session.md"]
    assert len(steps) > 3
    assert text.splitlines()[1:-1] == [f"User: New {number}?" for number in range(10)]


def test_drafts_left_by_a_kill_are_deleted(tmp_path: Path) -> None:
    exporter = Exporter(tmp_path)
    exporter.transcript("s1.jsonl", asked("One?"))
    exporter.folder.mkdir(parents=True)
    (exporter.folder / ".memoryd-abcdefgh.draft").write_text("# Session s1\nUser: O")
    assert list(exporter.after()) == ["s1.session.md"]
    assert os.listdir(exporter.folder) == ["s1.session.md"]  # noqa: PTH208


def test_agents_share_a_folder_but_no_exports(tmp_path: Path) -> None:
    first, second = Exporter(tmp_path, "a"), Exporter(tmp_path, "b")
    first.transcript("s1.jsonl", asked("The one of a?"))
    second.transcript("s1.jsonl", asked("The one of b?"))
    assert "of a?" in first.after()["s1.session.md"]
    assert "of b?" in second.after()["s1.session.md"]
    first.start(is_enabled=False)
    first.refresh()
    assert list(second.after()) == ["s1.session.md"]
