"""What starts a scan besides file events and the reconcile timer: a question, and a configured interval."""

from pathlib import Path

from memoryd.client import Client
from tests.daemon import RunningDaemon, write_config
from tests.hasty import HASTY
from tests.waiting import eventually

UNWATCHED = {
    "watch": False,
    "reconcileSeconds": 0,
    "onSearch": False,
    "onSessionStart": False,
    "settleMs": 20,
}


def daemon_over(home: Path, workspace: Path, **sync: object) -> RunningDaemon:
    config = write_config(home, workspace, None, search={"sync": {**UNWATCHED, **sync}, "query": {"freshMs": 0}})
    return RunningDaemon(home, config, workspace, program=HASTY)


def finds(daemon: RunningDaemon, word: str) -> bool:
    with Client(daemon.socket) as client:
        return bool(client.search(word)["results"])


def scanned_at(daemon: RunningDaemon) -> str | None:
    return daemon.agent()["lastScanAt"]


def write(workspace: Path, word: str) -> None:
    (workspace / "memory" / f"{word}.md").write_text(f"# New\n\nThe {word} nests by the sluice.\n")


def test_question_starts_a_scan_in_the_background(tmp_path: Path, workspace: Path) -> None:
    with daemon_over(tmp_path, workspace, onSearch=True) as daemon:
        daemon.client().sync()
        for word in ("heron", "quagga"):
            write(workspace, word)
            eventually(lambda word=word: finds(daemon, word))  # type: ignore[misc]  # default unknown


def test_question_starts_no_scan_if_disabled(tmp_path: Path, workspace: Path) -> None:
    with daemon_over(tmp_path, workspace) as disabled:
        disabled.client().sync()
        before = scanned_at(disabled)
        write(workspace, "heron")
        # wait as long as another daemon needs that does scan
        beside = tmp_path / "beside"
        beside.mkdir()
        with daemon_over(beside, workspace, onSearch=True) as enabled:
            enabled.client().sync()
            write(workspace, "quagga")
            eventually(lambda: bool(finds(disabled, "quagga") or finds(enabled, "quagga")))
        assert not finds(disabled, "quagga")
        assert not finds(disabled, "heron")
        assert scanned_at(disabled) == before
        disabled.client().sync()
        assert finds(disabled, "heron")


def test_interval_starts_scans_without_a_question(tmp_path: Path, workspace: Path) -> None:
    with daemon_over(tmp_path, workspace, intervalMinutes=0.02) as daemon:
        daemon.client().sync()
        for word in ("heron", "quagga"):
            write(workspace, word)
            eventually(lambda word=word: finds(daemon, word))  # type: ignore[misc]  # default unknown
        before = scanned_at(daemon)
        eventually(lambda: scanned_at(daemon) != before)
