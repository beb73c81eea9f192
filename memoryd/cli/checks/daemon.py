"""Checks of doctor for the running daemon: lock, heartbeats, socket, loopback port, queue and watcher."""

import errno
import os
import shlex
import socket as sockets
import stat
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from memoryd import __version__
from memoryd.cli.checks.finding import CheckContext, Finding, Findings, Remedy, check, chmod, with_part
from memoryd.cli.terminal import ago, count, duration
from memoryd.client.connection import lock_holder, lock_note
from memoryd.config.paths import SOCKET_PATH_MAX, lock_file, socket_path
from memoryd.errors import DaemonNotRunning, MemorydError, StoreUnavailable
from memoryd.files.token_file import TokenFile
from memoryd.replies.status import AgentStatus


@check(
    "daemon.lock",
    "lock",
    advice="stop the other daemon, or ask it at its socket; a lock file that no process holds does no harm",
    needs_config=False,
)
def lock(examination: CheckContext) -> Findings:
    """Check which process holds the lock of the state folder, and whether the same process answers at the socket."""
    path = lock_file()
    holder = lock_holder(path, examination.proc)
    if holder is None:
        return
    noted, socket = lock_note(path)
    status = examination.status
    if status is None:
        where = f", and listens on {socket}" if socket else ""
        message = f"memoryd runs (pid {holder or noted}){where}, but does not answer here"
        yield Finding("wrong", message, "ask at its socket (--socket), or stop it: kill its pid")
    elif holder and holder != status["pid"]:
        message = f"pid {holder} holds the lock of {path.parent}, and pid {status['pid']} answers"
        yield Finding("look", message, "two daemons run: stop one, or give it another state folder")
    else:
        yield Finding("ok", f"{path} is held by pid {holder or noted}")


@check(
    "daemon.heartbeats",
    "heartbeats",
    advice="if a part is stuck, the daemon is restarted or ends itself; `memoryctl service restart` does it now",
    needs_config=False,
)
def heartbeats(examination: CheckContext) -> Findings:
    """Check whether event loop, writers and watcher of the daemon make progress, by its status."""
    process = examination.status.get("daemon") if examination.status else None
    if process is None:
        return
    beats = process["heartbeats"]
    stalled = [beat for beat in beats if beat["state"] == "stalled"]
    for beat in stalled:
        message = f"{beat['name']} gave no sign of life for {duration(beat['ageSeconds'])}"
        hint = "if that continues, the daemon is restarted or ends itself; else: memoryctl service restart"
        yield Finding("wrong", message, hint)
    if beats and not stalled:
        yield Finding("ok", f"{count(len(beats), 'part')} of the process make progress")


@check(
    "http.token",
    "loopback port",
    advice="`chmod 600` the file, or delete it: memoryd makes one; end the other program, or set another `http.port`",
)
def port(examination: CheckContext) -> Findings:
    """Check whether the token file can be trusted, and which program has the port, if `http.enabled` is true."""
    http = examination.config.http
    if not http.enabled:
        yield Finding("off", "http.enabled is false")
        return
    file, where = TokenFile(http.token_path()), f"port {http.port} of {http.host}"
    # the token itself is not shown
    token = f"token in {file.path}"
    try:
        file.read()
    except StoreUnavailable:
        token = f"the token file {file.path} is made when memoryd starts"
    except MemorydError as exc:
        yield Finding("wrong", f"{where} stays closed: {exc}", exc.hint)
        return
    yield _port_finding(examination, where) or Finding("ok", f"{where}, {token}")


def _port_finding(examination: CheckContext, where: str) -> Finding | None:
    """Return why a port is not open, from the status, or without a daemon by whether another program listens there."""
    http, status = examination.config.http, examination.status
    if status is None:
        if examination.is_in_use:
            return None
        try:
            sockets.create_connection((http.host, http.port), timeout=_PROBE_SECONDS).close()
        except OSError:
            return None
        hint = "end that program, or set http.port to another port"
        return Finding("wrong", f"another program listens on {where}", hint)
    opened = status.get("http")
    if opened is None:
        return Finding("look", f"memoryd runs without {where}", "memoryctl reload")
    return Finding("wrong", f"{where}: {opened['reason']}") if opened["reason"] else None


PAUSE_SECONDS = 3.0
"""Time between the two readings: short, because a queue may be slow without a fault."""


@check(
    "queue.moving",
    "queue",
    advice="`memoryctl status` says what is degraded; a provider that fails, or a spent budget, keeps passages waiting",
)
def moving(examination: CheckContext) -> Findings:
    """Check the files to read and passages to embed that are waiting, and whether their number falls."""
    before = examination.status
    if before is None:
        return
    if not any(map(_pending, before["agents"])):
        yield Finding("ok", "nothing waits")
        return
    time.sleep(PAUSE_SECONDS)
    with examination.invocation.client() as client:
        after = {agent["id"]: agent for agent in client.status()["agents"]}
    for agent in before["agents"]:
        if agent["id"] in after:
            yield from with_part(f"queue of {agent['id']}", queue_finding(agent, after[agent["id"]]))


def queue_finding(before: AgentStatus, after: AgentStatus) -> Finding:
    """Return the finding about a queue, from the status of an agent at two moments."""
    pending, embedder = _pending(after), after["embedder"]
    if not pending:
        return Finding("ok", "nothing waits")
    if pending != _pending(before):
        return Finding("ok", f"{pending} to go, in progress")
    if after["pendingEmbeddings"] and embedder["state"] == "failed":
        why = embedder["reason"] or "there is no provider of vectors"
        return Finding("wrong", f"{pending} to go, without progress: {why}", "memoryctl doctor --section embedder")
    if (embedding := after.get("embedding")) and embedding["paused"]:
        return Finding("look", f"{pending} to go, when you ask for it", "memoryctl index")
    if embedder["state"] in ("warming", "downloading"):
        return Finding("ok", f"{pending} to go, when the model is ready")
    message = f"{pending} to go, and none was done in {PAUSE_SECONDS:g} s"
    return Finding("look", message, "watch it: memoryctl status --watch; it says what is degraded")


def _pending(agent: AgentStatus) -> str:
    """Return what is waiting in an agent's memory, in words; empty if nothing is."""
    pending = (
        (agent["pendingFiles"], "file"),
        (agent["pendingEmbeddings"], "passage"),
        (agent["pendingCaptures"], "message"),
    )
    return ", ".join(count(number, noun) for number, noun in pending if number)


_PROBE_SECONDS = 2.0


@check(
    "socket.answers",
    "daemon",
    advice=("start memoryd; `--fix` removes a dead socket of your own; move one of another user away by hand"),
    needs_config=False,
)
def answers(examination: CheckContext) -> Findings:
    """Check whether there is a socket at its path, whether it is ours, and whether memoryd answers there."""
    status, path = examination.status, _path(examination)
    if status is not None:
        up = duration(status["uptimeSeconds"])
        yield Finding("ok", f"memoryd {status['version']}, pid {status['pid']}, up {up}, at {path}")
        return
    info = _lstat(path)
    if info is not None and (trouble := _obstacle(path, info)) is not None:
        yield from with_part("socket", trouble)
    elif isinstance(examination.silence, DaemonNotRunning):
        yield Finding("look", "memoryd is not running", examination.silence.hint)
        if info is not None and is_refused(path):
            remedy = Remedy(f"remove the dead socket {path}", partial(_remove, path, examination))
            hint = "nothing needs to be done: the next start removes it"
            yield from with_part("socket", Finding("look", f"{path} is left from a daemon that ended", hint, remedy))
    else:
        hint = examination.silence.hint if examination.silence else ""
        message = f"memoryd does not answer at {path}: {examination.silence}"
        yield Finding("wrong", message, hint or "see its log, then restart it")


@check(
    "socket.access",
    "socket",
    advice="`chmod 600` the socket, `chmod 700` its folder, or name another one in `MEMORYD_SOCKET`",
    needs_config=False,
)
def access(examination: CheckContext) -> Findings:
    """Check owner and mode of the socket (0600) and of its folder (0700)."""
    socket = _path(examination)
    for path, rights in ((socket, 0o600), (socket.parent, 0o700)):
        info = _lstat(path)
        if info is None or (path is socket and (not stat.S_ISSOCK(info.st_mode) or is_refused(path))):
            # another check reports a file in the way, or a dead socket
            continue
        if info.st_uid != os.geteuid():
            hint = "name a socket in a folder of your own in MEMORYD_SOCKET"
            yield Finding("wrong", f"{path} belongs to {owner_of(info)}, not to you", hint)
        elif stat.S_IMODE(info.st_mode) & 0o077:
            message = f"{path} is open to others (mode {stat.S_IMODE(info.st_mode):04o})"
            hint = f"chmod {rights:o} {shlex.quote(str(path))}"
            yield Finding("wrong", message, hint, chmod(path, rights))


@check(
    "socket.path",
    "socket",
    advice="name a shorter path in `MEMORYD_SOCKET`, for the daemon and for all of its clients",
    needs_config=False,
)
def length(examination: CheckContext) -> Findings:
    """Check whether the path of the socket is longer than the system allows."""
    path, named = _path(examination), os.environ.get("MEMORYD_SOCKET", "")
    if len(os.fsencode(path)) > SOCKET_PATH_MAX:
        message = f"{path} has {len(os.fsencode(path))} bytes, of {SOCKET_PATH_MAX} that the system allows"
        yield Finding("wrong", message, "name a shorter one in MEMORYD_SOCKET")
    elif examination.invocation.socket is None and len(os.fsencode(named)) > SOCKET_PATH_MAX:
        message = f"the path in MEMORYD_SOCKET is longer than the system allows, and {path} is used instead"
        yield Finding("look", message, "name a shorter path, if another program uses MEMORYD_SOCKET")


@check(
    "socket.version",
    "daemon",
    advice="restart the daemon after an update, or update the older of the two",
    needs_config=False,
)
def version(examination: CheckContext) -> Findings:
    """Check whether daemon and `memoryctl` have the same version."""
    if examination.status is not None and examination.status["version"] != __version__:
        message = f"memoryd is {examination.status['version']}, memoryctl is {__version__}"
        yield Finding("look", message, "restart memoryd after an update; else update the older of the two")


@check(
    "socket.unreachable",
    "socket",
    advice="see what is at the path, and restart the daemon",
    needs_config=False,
)
def unreachable(examination: CheckContext) -> Findings:
    """Check for sockets of the daemon or of single agents whose paths do not lead to the daemon."""
    for closed in examination.status.get("unreachable", ()) if examination.status else ():
        yield Finding(
            "wrong", f"{closed['socket']}: {closed['reason']}", "see what is at the path, and restart memoryd"
        )


def is_refused(path: Path) -> bool:
    """Return True if no process listens at a socket; only a refusal proves it, since a full backlog also blocks."""
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_SECONDS)
        return probe.connect_ex(str(path)) == errno.ECONNREFUSED


def owner_of(info: os.stat_result) -> str:
    """Return the owner of a file: `root`, or `uid N`."""
    return "root" if info.st_uid == 0 else f"uid {info.st_uid}"


def _path(examination: CheckContext) -> Path:
    return examination.invocation.socket or socket_path()


def _lstat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError as exc:
        if exc.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            raise
        return None


def _obstacle(path: Path, info: os.stat_result) -> Finding | None:
    if not stat.S_ISSOCK(info.st_mode):
        return Finding("wrong", f"{path} is in the way: it is not a socket", "move it away, and start memoryd")
    if info.st_uid != os.geteuid():
        hint = "nothing was deleted: ask its owner, or name another path in MEMORYD_SOCKET"
        return Finding("wrong", f"the socket {path} was put there by {owner_of(info)}", hint)
    return None


def _remove(path: Path, examination: CheckContext) -> str:
    # checked again: a daemon may have started since the check
    info = _lstat(path)
    if info is None or _obstacle(path, info) is not None or examination.is_in_use or not is_refused(path):
        raise MemorydError(f"{path} stays unchanged: it is in use now")
    path.unlink()
    return f"removed {path}"


LATE = 4
"""A scan may take so many times its interval, plus `_GRACE_SECONDS`: a large workspace takes long."""
_GRACE_SECONDS = 30.0


@check(
    "watcher.alive",
    "watcher",
    advice="follow the reason in the message; until then changes are only found by scans",
)
def alive(examination: CheckContext) -> Findings:
    """Check whether file events reach the daemon, which tests this with a file of its own every 30 s."""
    for agent in examination.status["agents"] if examination.status else ():
        watcher = agent["watcher"]
        if watcher["mode"] == "off":
            finding = Finding("look", "changes are found by scans alone", "sync.watch: true turns file events on")
        elif watcher["ok"]:
            finding = Finding("ok", f"follows {watcher['mode']}")
        else:
            hint = "until then the folder is scanned; see the checks about file events, then restart memoryd"
            finding = Finding("wrong", watcher.get("reason") or "no file events arrive", hint)
        yield from with_part(f"watcher of {agent['id']}", finding)


@check(
    "watcher.scan",
    "scanner",
    advice="ask for a scan: `memoryctl sync`; if that does not end, restart the daemon",
)
def scanned(examination: CheckContext) -> Findings:
    """Check when each workspace was last compared with its index, against `sync.reconcileSeconds`."""
    if examination.status is None:
        return
    intervals = {agent.id: agent.memory_search.sync.reconcile_seconds for agent in examination.agents}
    for agent in examination.status["agents"]:
        finding = scan_finding(agent, intervals.get(agent["id"], 0.0), datetime.now(UTC))
        yield from with_part(f"scanner of {agent['id']}", finding)


def scan_finding(agent: AgentStatus, interval: float, now: datetime) -> Finding:
    """Return the finding about the age of the last scan; an interval of 0 seconds means no regular scans."""
    at = agent["lastScanAt"]
    age_text = f"last scan {ago(at, now)}"
    hint = "memoryctl sync asks for one; if that does not end, restart memoryd"
    if at is None:
        return Finding("look", "the folder was not scanned yet", hint)
    age = (now - datetime.fromisoformat(at)).total_seconds()
    if age < -_GRACE_SECONDS:
        return Finding("look", "the last scan was in the future: the clock was set back", "memoryctl sync")
    if interval and age > LATE * interval + _GRACE_SECONDS:
        return Finding("wrong", f"{age_text}, but one is due every {interval:g} s", hint)
    return Finding("ok", age_text)
