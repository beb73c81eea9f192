"""Transcripts exported for the real qmd: found, kept apart by agent, and forgotten."""

import contextlib
from pathlib import Path
from typing import Any

import pytest

from memoryd.client import Client
from memoryd.errors import NotFound
from tests.daemon import RunningDaemon, write_config
from tests.real_qmd import real_qmd
from tests.system.qmd_daemon import paths, processes_below, qmd_of
from tests.transcripts_written import EVENT, answered, append, asked
from tests.waiting import eventually


def ask_sessions(daemon: RunningDaemon, question: str, *, agent: str | None = None) -> Any:
    with Client(daemon.socket) as client:
        return client.search(question, sources=["sessions"], agent=agent)


def config_of(home: Path, workspace: Path) -> Path:
    sessions = {"enabled": True, "exportDir": str(home / "exports"), "retentionDays": 36_500}
    folders = [{"path": str(home / name), "agent": name} for name in ("main", "other")]
    memory = {
        "backend": "qmd",
        "qmd": {"command": real_qmd(), "sessions": sessions, "update": {"debounceMs": 50, "interval": "5s"}},
        "sessions": {"folders": folders},
    }
    defaults = {"workspace": str(workspace), "memorySearch": {"provider": "none"}}
    agents = {"defaults": defaults, "list": [{"id": "main"}, {"id": "other"}]}
    return write_config(home, workspace, None, memory=memory, agents=agents)


def test_exported_conversations_are_found_by_line_and_only_by_their_agent(tmp_path: Path, workspace: Path) -> None:
    for name in ("main", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "main" / "s1.jsonl").write_bytes(
        EVENT + asked("Where does the ocelot sleep?") + EVENT + EVENT + answered("The ocelot sleeps in the mill.")
    )
    (tmp_path / "other" / "s1.jsonl").write_bytes(asked("Is the margay awake?") + answered("The margay is."))
    stranger = tmp_path / "exports" / "other" / "mine.md"
    stranger.parent.mkdir(parents=True)
    stranger.write_text("# Session mine\n\nThe pangolin is mine.\n")
    daemon = RunningDaemon(tmp_path, config_of(tmp_path, workspace), workspace)
    with daemon:
        eventually(lambda: paths(ask_sessions(daemon, "ocelot mill")) == ["sessions/main/s1.jsonl"])
        hit = ask_sessions(daemon, "ocelot mill")["results"][0]
        assert hit["source"] == "sessions"
        assert hit["citation"] in ("sessions/main/s1.jsonl#L2-L5", "sessions/main/s1.jsonl#L5")
        assert "sleeps in the mill" in hit["snippet"]
        assert paths(ask_sessions(daemon, "margay")) == []
        eventually(lambda: paths(ask_sessions(daemon, "margay", agent="other")) == ["sessions/other/s1.jsonl"])
        assert paths(ask_sessions(daemon, "ocelot", agent="other")) == []
        with Client(daemon.socket) as client:
            assert paths(client.search("ocelot mill")) == ["sessions/main/s1.jsonl"], "found without naming the source"
            assert paths(client.search("ocelot mill", sources=["memory"])) == []
            shown = client.session_lines(hit["citation"])
            assert "sleeps in the mill" in shown["lines"][-1]["text"]
            with pytest.raises(NotFound):
                client.session_lines(hit["citation"], agent="other")
            assert client.session_lines("sessions/other/s1.jsonl#L1", agent="other")["lines"][0]["text"]
            assert client.status()["config"]["notices"] == []
        append(tmp_path / "main" / "s1.jsonl", asked("And the serval?"))
        eventually(lambda: paths(ask_sessions(daemon, "serval")) == ["sessions/main/s1.jsonl"])
        assert qmd_of(daemon)["exportedSessions"] == 1

        (tmp_path / "main" / "s1.jsonl").unlink()
        eventually(lambda: paths(ask_sessions(daemon, "ocelot")) == [])
        eventually(lambda: not files_with(daemon, b"ocelot"))
        (tmp_path / "other" / "s2.jsonl").write_bytes(asked("Does the caracal jump?"))
        eventually(lambda: paths(ask_sessions(daemon, "caracal", agent="other")) != [])
        with Client(daemon.socket) as client:
            assert client.forget_session("s1.jsonl", agent="other")["exports"] == 1
            with pytest.raises(NotFound):
                client.session_lines("sessions/other/s1.jsonl#L1", agent="other")
        assert not files_with(daemon, b"margay"), "when the call ends"
        assert files_with(daemon, b"pangolin") == [str(stranger)], "a foreign file is not indexed by qmd"
        assert files_with(daemon, b"caracal")
    eventually(lambda: not processes_below(tmp_path))
    with RunningDaemon(tmp_path, write_config(tmp_path, workspace, None), workspace) as daemon:
        assert not files_with(daemon, b"caracal"), "exports are removed with the backend"
    assert [path.name for path in (tmp_path / "exports").rglob("*")] == ["other", "mine.md"]


def files_with(daemon: RunningDaemon, word: bytes) -> list[str]:
    """Return the files of qmd and the exports that contain a word."""
    folders = (daemon.state / "agents", daemon.home / "exports")
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    found = []
    for path in files:
        # a temporary file may be renamed meanwhile
        with contextlib.suppress(FileNotFoundError):
            found += [str(path)] if word in path.read_bytes() else []
    return found
