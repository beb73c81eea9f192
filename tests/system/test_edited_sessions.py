"""Session files edited by hand, under the real daemon: bad ones are reported, and the others keep working."""

import json
from pathlib import Path

import pytest

from memoryd.errors import MemorydError
from tests.daemon import RunningDaemon, write_config
from tests.waiting import eventually

TURN: dict[str, object] = {"seq": 1, "q": "Where is the walrus?", "a": None, "timestamp": "2026-11-20T10:00:00Z"}
HOSTILE: dict[str, dict[str, object]] = {
    "early": {"timestamp": "0001-01-01T00:00:00+14:00"},
    "late": {"timestamp": "9999-12-31T23:59:59-14:00"},
    "many": {"seq": 10**30},
    "none": {"seq": 0},
    "listed": {"q": ["walrus"]},
    "deep": {"mine": json.loads("[" * 200 + "]" * 200)},
}


def test_edited_sessions_are_used_or_reported(tmp_path: Path, workspace: Path) -> None:
    sessions = workspace / "memory/sessions"
    sessions.mkdir()
    edits: dict[str, dict[str, object]] = {
        **HOSTILE,
        "half": {"q": "a lone \ud800 walrus", "q_tokens": ["\ud800"]},
        "good": {},
    }
    for name, change in edits.items():
        value = {"session_id": name, "created": TURN["timestamp"], "agent": "main", "qa_sequence": [TURN | change]}
        (sessions / f"{name}.json").write_text(json.dumps(value))
    config = write_config(tmp_path, workspace, None)
    with RunningDaemon(tmp_path, config, workspace) as daemon:
        client = daemon.client()
        client.sync()
        eventually(lambda: len(client.qa_stats()["problems"]) == len(HOSTILE))
        assert {problem.split(": ")[0] for problem in client.qa_stats()["problems"]} == {
            f"memory/sessions/{name}.json" for name in HOSTILE
        }
        for name in HOSTILE:
            for call in (client.qa_session, lambda session: client.add_turn("More?", session=session)):
                with pytest.raises(MemorydError, match=f"{name}.json cannot be read"):
                    call(name)
        assert client.qa_session("half")["sequence"][0]["q"] == "a lone ? walrus"
        eventually(
            lambda: (
                {hit["path"] for hit in client.search("walrus", sources=["sessions"])["results"]}
                == {"session:half", "session:good"}
            )
        )
        assert client.add_turn("And the seal?", session="half")["seq"] == 2
    log = daemon.log.read_text()
    assert '"error"' not in log
    assert "Traceback" not in log
