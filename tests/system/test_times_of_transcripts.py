"""An invalid time does not keep a transcript out."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.daemon import RunningDaemon
from tests.system.over_socket import send
from tests.waiting import eventually

TIMES = ("2300-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00Z", "1980-01-01T00:00:00Z", 1e18, 7)


@pytest.fixture
def daemon(tmp_path: Path, workspace: Path) -> RunningDaemon:
    folder = tmp_path / "talks"
    folder.mkdir()
    search = {
        "provider": "none",
        "sources": ["memory", "sessions"],
        "experimental": {"sessionMemory": True},
        "sync": {"sessions": {"deltaBytes": 0, "deltaMessages": 0}},
    }
    memory = {
        "sessions": {"folders": [{"path": str(folder), "agent": "main", "format": "claude-code"}]},
        "qa": {"fromTranscripts": True},
    }
    config = tmp_path / "config.json5"
    defaults = {"workspace": str(workspace), "memorySearch": search}
    config.write_text(json.dumps({"agents": {"defaults": defaults}, "memory": memory}))
    config.chmod(0o600)
    return RunningDaemon(tmp_path, config, workspace)


def record(role: str, said: str, at: object) -> str:
    message = {"role": role, "content": said}
    return json.dumps({"type": role, "sessionId": "s", "timestamp": at, "message": message}) + "\n"


def test_invalid_times_keep_nothing_out(daemon: RunningDaemon) -> None:
    written = datetime.now(UTC) - timedelta(hours=2)
    ahead = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    folder = daemon.home / "talks"
    for number, odd in enumerate((*TIMES, ahead)):
        lines: list[tuple[str, str, object]] = [
            ("user", f"gibbon{number} said", written.isoformat()),
            ("assistant", "good", written.isoformat()),
        ]
        lines += [("user", f"lemur{number} said", odd), ("assistant", "so it is", odd)]
        file = folder / f"{number}.jsonl"
        file.write_text("".join(record(*line) for line in lines))
        os.utime(file, (written.timestamp(), written.timestamp()))
    with daemon:
        reply = send(daemon.socket, "POST", "/v1/sessions/sync", {"wait": True}).json
        assert (reply["complete"], reply["reason"], reply["indexed"] >= len(TIMES) + 1) == (True, None, True)
        for number in range(len(TIMES) + 1):
            for word in ("gibbon", "lemur"):
                found = daemon.client().search(f"{word}{number}", sources=["sessions"])["results"]
                assert found, f"{word}{number}"
        listed = [session for session in daemon.client().sessions()["sessions"] if session["kind"] == "transcript"]
        for session in listed:
            assert abs(datetime.fromisoformat(session["lastActivity"] or "") - written) < timedelta(minutes=1)
        taken = daemon.workspace / "memory" / "sessions"
        eventually(lambda: len(list(taken.glob("transcript-*.json"))) == len(TIMES) + 1)
        stamps = [
            turn["timestamp"] for file in taken.glob("t*.json") for turn in json.loads(file.read_text())["qa_sequence"]
        ]
        assert {abs(datetime.fromisoformat(stamp) - written) < timedelta(minutes=1) for stamp in stamps} == {True}
    assert "Traceback" not in daemon.log.read_text()
