"""If a folder of conversations is a symlink, nothing is written through it; this is reported."""

from pathlib import Path

import pytest

from memoryd.errors import NotNow
from tests.daemon import RunningDaemon, write_config
from tests.hasty import HASTY
from tests.system.files import contents
from tests.waiting import eventually

KEY = "agent:main:main"


def qa_problems(daemon: RunningDaemon) -> str:
    with daemon.client() as client:
        (agent,) = client.status()["agents"]
    return "; ".join(part["reason"] for part in agent["degraded"] if part["part"] == "qa")


def is_added(daemon: RunningDaemon) -> bool:
    with daemon.client() as client:
        try:
            return client.add_turn("And the heron?", session_key=KEY)["remembered"]
        except NotNow:
            return False


@pytest.mark.parametrize(
    ("linked", "is_outside", "is_at_start"),
    [
        ("memory", True, True),
        ("memory/sessions", True, False),
        ("memory/sessions", False, True),
        ("memory/archive", False, False),
    ],
)
def test_nothing_is_written_through_a_link(
    tmp_path: Path, workspace: Path, linked: str, is_outside: bool, is_at_start: bool
) -> None:
    folder = workspace / linked
    elsewhere = (tmp_path if is_outside else workspace) / "elsewhere"
    folder.mkdir(exist_ok=True)

    def link() -> dict[str, bytes]:
        folder.rename(elsewhere)
        folder.symlink_to(elsewhere)
        return contents(elsewhere)

    before = link() if is_at_start else {}
    daemon = RunningDaemon(tmp_path, write_config(tmp_path, workspace, None), workspace, program=HASTY)
    with daemon, daemon.client() as client:
        if not is_at_start:
            client.add_turn("Where is the quetzal?", session_key=KEY)
            eventually((workspace / "memory/qa-index.json").exists)
            # written after the main file
            eventually((workspace / "memory/sessions/.stamps.json").exists)
            before = link()
        if is_at_start:
            eventually(lambda: f"{linked} is a symbolic link" in qa_problems(daemon))
        for session in ("fresh", None):
            with pytest.raises(NotNow, match=f"{linked} is a symbolic link"):
                client.add_turn("And the heron?", session=session, session_key=None if session else KEY)
        eventually(lambda: f"{linked} is a symbolic link" in qa_problems(daemon))
        assert client.search("sourdough")["results"] or linked == "memory"
        assert contents(elsewhere) == before
        folder.unlink()
        elsewhere.rename(folder)
        eventually(lambda: is_added(daemon))
        assert client.add_turn("And the stork?", session_key=KEY)["seq"] == (2 if is_at_start else 3)
