"""The part of `memoryctl doctor` about the process: who holds the lock of the state folder, and does it get on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.cli.checks.lock import lock_holder, lock_path
from memoryd.cli.terminal import count, duration

_NOTE_BYTES: Final = 512


def lock(examination: Examination) -> Iterator[Finding]:
    """Compare who holds the lock with who answers: a lock that nobody holds is none, whatever its file says."""
    path = lock_path()
    holder = lock_holder(path, examination.proc)
    if holder is None:
        return
    noted, socket = _note(path)
    status = examination.status
    if status is None:
        where = f", and listens on {socket}" if socket else ""
        message = f"memoryd runs (pid {holder or noted}){where}, but does not answer here"
        yield Finding("lock", "wrong", message, "ask at its socket (--socket), or stop it: kill its pid")
    elif holder and holder != status["pid"]:
        message = f"pid {holder} holds the lock of {path.parent}, and pid {status['pid']} answers"
        hint = "two daemons run: stop the one that you did not mean, or give it a state folder of its own"
        yield Finding("lock", "look", message, hint)
    else:
        yield Finding("lock", "ok", f"{path} is held by pid {holder or noted}")


def heartbeats(examination: Examination) -> Iterator[Finding]:
    """Tell which parts of the process are stuck, as it says itself."""
    process = examination.status.get("daemon") if examination.status else None
    if process is None:
        return
    beats = process["heartbeats"]
    for one in beats:
        if one["state"] == "stalled":
            told = f"{one['name']} gave no sign of life for {duration(one['ageSeconds'])}"
            hint = "it is restarted, or ends itself, when that goes on; else: memoryctl service restart"
            yield Finding("heartbeats", "wrong", told, hint)
    if beats and all(one["state"] != "stalled" for one in beats):
        yield Finding("heartbeats", "ok", f"{count(len(beats), 'part')} of the process get on")


def _note(path: Path) -> tuple[str, str]:
    with path.open("rb") as note:
        lines = note.read(_NOTE_BYTES).decode(errors="replace").splitlines()
    pid, socket, *_ = [*lines, "", ""]
    return pid or "unknown", socket


LOOKS: Looks = {"daemon.lock": lock, "daemon.heartbeats": heartbeats}
