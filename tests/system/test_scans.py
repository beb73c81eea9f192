"""What sets off a scan besides file events and the reconciling timer: a question, and an interval of one's own."""

from pathlib import Path

from memoryd.client import Client
from tests.daemon import RunningDaemon, write_config
from tests.hasty import HASTY
from tests.waiting import eventually

DEAF = {"watch": False, "reconcileSeconds": 0, "onSearch": False, "onSessionStart": False, "settleMs": 20}


def over(home: Path, workspace: Path, **sync: object) -> RunningDaemon:
    config = write_config(home, workspace, None, search={"sync": {**DEAF, **sync}, "query": {"freshMs": 0}})
    return RunningDaemon(home, config, workspace, program=HASTY)


def finds(daemon: RunningDaemon, word: str) -> bool:
    with Client(daemon.socket) as client:
        return bool(client.search(word)["results"])


def scanned_at(daemon: RunningDaemon) -> str | None:
    return daemon.agent()["lastScanAt"]


def write(workspace: Path, word: str) -> None:
    (workspace / "memory" / f"{word}.md").write_text(f"# New\n\nThe {word} nests by the sluice.\n")


def test_question_sets_off_a_scan_in_the_background(tmp_path: Path, workspace: Path) -> None:
    with over(tmp_path, workspace, onSearch=True) as daemon:
        daemon.client().sync()
        for word in ("heron", "quagga"):
            write(workspace, word)
            eventually(lambda word=word: finds(daemon, word))  # type: ignore[misc]  # default unknown


def test_question_sets_off_nothing_where_that_is_turned_off(tmp_path: Path, workspace: Path) -> None:
    with over(tmp_path, workspace) as deaf:
        deaf.client().sync()
        before = scanned_at(deaf)
        write(workspace, "heron")
        # as long as it takes a daemon over the same notes that does scan
        beside = tmp_path / "beside"
        beside.mkdir()
        with over(beside, workspace, onSearch=True) as hearing:
            hearing.client().sync()
            write(workspace, "quagga")
            eventually(lambda: bool(finds(deaf, "quagga") or finds(hearing, "quagga")))
        assert not finds(deaf, "quagga")
        assert not finds(deaf, "heron")
        assert scanned_at(deaf) == before
        deaf.client().sync()
        assert finds(deaf, "heron")


def test_interval_sets_off_scans_without_a_question(tmp_path: Path, workspace: Path) -> None:
    with over(tmp_path, workspace, intervalMinutes=0.02) as daemon:
        daemon.client().sync()
        for word in ("heron", "quagga"):
            write(workspace, word)
            eventually(lambda word=word: finds(daemon, word))  # type: ignore[misc]  # default unknown
        before = scanned_at(daemon)
        eventually(lambda: scanned_at(daemon) != before)
