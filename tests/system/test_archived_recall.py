"""Old conversations are recalled from the archive, also after a restart."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from memoryd.client import Client
from tests.daemon import RunningDaemon, write_config
from tests.waiting import eventually

KEY = "agent:main:discord:direct:peter"
QUESTION = "which gasket fits the harbour boiler?"


def recalled(client: Client) -> Any:
    return client.qa_context("that gasket of the boiler")


def is_recalled(client: Client) -> bool:
    return bool(recalled(client)["session"])


def test_session_of_last_year_is_recalled(tmp_path: Path, workspace: Path) -> None:
    config = write_config(tmp_path, workspace, None)
    daemon = RunningDaemon(tmp_path, config, workspace)
    archive = workspace / "memory/archive"
    with ExitStack() as running:
        running.enter_context(daemon)
        added = daemon.client().add_turn(QUESTION, session_key=KEY, timestamp="2024-03-01T10:00:00Z")
        daemon.stop()
        # old sessions are archived soon after a start
        daemon.start()
        eventually(lambda: archive.is_dir() and list(archive.glob("*.json")))
        for _ in range(2):
            client = daemon.client()
            eventually(partial(is_recalled, client))
            found = recalled(client)
            assert found["session"] == added["session"]
            assert [turn["q"] for turn in found["sequence"]] == [QUESTION]
            assert [turn["q"] for turn in client.qa_context()["sequence"]] == [QUESTION]
            assert QUESTION in client.start_session(KEY)["context"]
            assert client.start_session("agent:main:other")["context"] == ""
            daemon.stop()
            daemon.start()
    assert list(archive.glob("*.json"))
