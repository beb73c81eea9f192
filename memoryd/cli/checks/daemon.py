"""What doctor checks of the running daemon: lock, heartbeats, socket, loopback port, queue and watcher."""

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
from memoryd.cli.checks.finding import Examination, Finding, Findings, Remedy, check, chmod, with_part
from memoryd.cli.terminal import ago, count, duration
from memoryd.client.connection import lock_holder, lock_note
from memoryd.config.paths import SOCKET_PATH_MAX, lock_file, socket_path
from memoryd.errors import DaemonNotRunning, MemorydError, StoreUnavailable
from memoryd.files.token_file import TokenFile
from memoryd.replies.status import AgentStatus


@check(
    "daemon.lock",
    "lock",
    advice="stop the other daemon, or ask it at its socket; a lock file that nobody holds does no harm",
    needs_config=False,
)
def lock(examination: Examination) -> Findings:
    """Look at who holds the lock of the state folder, and whether that is who answers on the socket."""
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
        hint = "two daemons run: stop the one that you did not mean, or give it a state folder of its own"
        yield Finding("look", message, hint)
    else:
        yield Finding("ok", f"{path} is held by pid {holder or noted}")


@check(
    "daemon.heartbeats",
    "heartbeats",
    advice="a part that is stuck has the daemon restarted, or end itself; `memoryctl service restart` does it now",
    needs_config=False,
)
def heartbeats(examination: Examination) -> Findings:
    """Look at whether event loop, writers and watcher of the daemon get on, by its own word."""
    process = examination.status.get("daemon") if examination.status else None
    if process is None:
        return
    beats = process["heartbeats"]
    for one in beats:
        if one["state"] == "stalled":
            message = f"{one['name']} gave no sign of life for {duration(one['ageSeconds'])}"
            hint = "it is restarted, or ends itself, when that goes on; else: memoryctl service restart"
            yield Finding("wrong", message, hint)
    if beats and all(one["state"] != "stalled" for one in beats):
        yield Finding("ok", f"{count(len(beats), 'part')} of the process get on")


@check(
    "http.token",
    "loopback port",
    advice="`chmod 600` the file, or delete it: memoryd makes one; end the other program, or set another `http.port`",
)
def port(examination: Examination) -> Findings:
    """Look at where `http.enabled`: whether its token file can be trusted, and who has the port."""
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
    yield _closed_port(examination, where) or Finding("ok", f"{where}, {token}")


def _closed_port(examination: Examination, where: str) -> Finding | None:
    """Say why a port is not open: as the daemon says, else by whether another program listens there."""
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
"""Between the two looks: short, since a queue may be slow without a fault."""


@check(
    "queue.moving",
    "queue",
    advice="`memoryctl status` says what is degraded; a provider that fails, or a spent budget, keeps passages waiting",
)
def moving(examination: Examination) -> Findings:
    """Look at files to read and passages to embed that are waiting, and whether they become fewer."""
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
    """Judge what waited at two moments."""
    pending, embedder = _pending(after), after["embedder"]
    if not pending:
        return Finding("ok", "nothing waits")
    if pending != _pending(before):
        return Finding("ok", f"{pending} to go, and it moves")
    if after["pendingEmbeddings"] and embedder["state"] == "failed":
        why = embedder["reason"] or "nobody makes vectors"
        return Finding("wrong", f"{pending} to go, which do not move: {why}", "memoryctl doctor --section embedder")
    if (embedding := after.get("embedding")) and embedding["paused"]:
        return Finding("look", f"{pending} to go, when you ask for it", "memoryctl index")
    if embedder["state"] in ("warming", "downloading"):
        return Finding("ok", f"{pending} to go, when the model is ready")
    message = f"{pending} to go, and none was done in {PAUSE_SECONDS:g} s"
    return Finding("look", message, "watch it: memoryctl status --watch; it says what is degraded")


def _pending(agent: AgentStatus) -> str:
    """Return what waits in an agent's memory, in words; empty where nothing does."""
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
    advice=(
        "start memoryd; a dead socket of ours is removed by `--fix`; one of somebody else has to be moved away by hand"
    ),
    needs_config=False,
)
def answers(examination: Examination) -> Findings:
    """Look at whether there is a socket at its path, whether it is ours, and whether memoryd answers behind it."""
    status, path = examination.status, _path(examination)
    if status is not None:
        up = duration(status["uptimeSeconds"])
        yield Finding("ok", f"memoryd {status['version']}, pid {status['pid']}, up {up}, at {path}")
        return
    found = _lstat(path)
    if found is not None and (trouble := _in_the_way(path, found)) is not None:
        yield from with_part("socket", trouble)
    elif isinstance(examination.silence, DaemonNotRunning):
        yield Finding("look", "memoryd is not running", examination.silence.hint)
        if found is not None and is_refused(path):
            remedy = Remedy(f"remove the dead socket {path}", partial(_remove, path, examination))
            hint = "the next start removes it: nothing need be done"
            yield from with_part("socket", Finding("look", f"{path} is left from a daemon that is gone", hint, remedy))
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
def access(examination: Examination) -> Findings:
    """Look at owner and mode of the socket (0600) and of its folder (0700)."""
    path = _path(examination)
    for one, wanted in ((path, 0o600), (path.parent, 0o700)):
        found = _lstat(one)
        if found is None or (one is path and (not stat.S_ISSOCK(found.st_mode) or is_refused(path))):
            # another check reports what is in the way, or left behind
            continue
        if found.st_uid != os.geteuid():
            hint = "name a socket in a folder of your own in MEMORYD_SOCKET"
            yield Finding("wrong", f"{one} belongs to {owner_of(found)}, not to you", hint)
        elif stat.S_IMODE(found.st_mode) & 0o077:
            message = f"{one} is open to others (mode {stat.S_IMODE(found.st_mode):04o})"
            hint = f"chmod {wanted:o} {shlex.quote(str(one))}"
            yield Finding("wrong", message, hint, chmod(one, wanted))


@check(
    "socket.path",
    "socket",
    advice="name a shorter one in `MEMORYD_SOCKET`, for the daemon and for all who ask it",
    needs_config=False,
)
def length(examination: Examination) -> Findings:
    """Look at whether the path of the socket is longer than the system allows."""
    path, named = _path(examination), os.environ.get("MEMORYD_SOCKET", "")
    if len(os.fsencode(path)) > SOCKET_PATH_MAX:
        message = f"{path} has {len(os.fsencode(path))} bytes, of {SOCKET_PATH_MAX} that the system allows"
        yield Finding("wrong", message, "name a shorter one in MEMORYD_SOCKET")
    elif examination.invocation.socket is None and len(os.fsencode(named)) > SOCKET_PATH_MAX:
        message = f"the path in MEMORYD_SOCKET is longer than the system allows, and {path} stands in for it"
        yield Finding("look", message, "name a shorter one, if another program looks for it there")


@check(
    "socket.version",
    "daemon",
    advice="restart the daemon after an update, or update the older of the two",
    needs_config=False,
)
def version(examination: Examination) -> Findings:
    """Look at whether daemon and `memoryctl` are of one version."""
    if examination.status is not None and examination.status["version"] != __version__:
        message = f"memoryd is {examination.status['version']}, memoryctl is {__version__}"
        yield Finding("look", message, "restart memoryd after an update; else update the older of the two")


@check(
    "socket.unreachable",
    "socket",
    advice="look at what lies at the path, and restart the daemon",
    needs_config=False,
)
def unreachable(examination: Examination) -> Findings:
    """Look at sockets of the daemon, those of single agents too, whose paths do not lead to it."""
    for one in examination.status.get("unreachable", ()) if examination.status else ():
        yield Finding("wrong", f"{one['socket']}: {one['reason']}", "look at what lies there, and restart memoryd")


def is_refused(path: Path) -> bool:
    """Tell whether no process listens: only a refusal says so; a full backlog is that of a process."""
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_SECONDS)
        return probe.connect_ex(str(path)) == errno.ECONNREFUSED


def owner_of(found: os.stat_result) -> str:
    """Name the owner of a file: root, or a number."""
    return "root" if found.st_uid == 0 else f"uid {found.st_uid}"


def _path(examination: Examination) -> Path:
    return examination.invocation.socket or socket_path()


def _lstat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError as exc:
        if exc.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            raise
        return None


def _in_the_way(path: Path, found: os.stat_result) -> Finding | None:
    if not stat.S_ISSOCK(found.st_mode):
        return Finding("wrong", f"{path} is in the way: it is not a socket", "move it away, and start memoryd")
    if found.st_uid != os.geteuid():
        hint = "nothing was deleted: ask its owner, or name another path in MEMORYD_SOCKET"
        return Finding("wrong", f"the socket {path} was put there by {owner_of(found)}", hint)
    return None


def _remove(path: Path, examination: Examination) -> str:
    # once more: a daemon may have been started since
    found = _lstat(path)
    if found is None or _in_the_way(path, found) is not None or examination.is_in_use or not is_refused(path):
        raise MemorydError(f"{path} is left as it is: it is in use now")
    path.unlink()
    return f"removed {path}"


LATE = 4
"""So many times its interval, and half a minute, a scan may take to come: a large workspace takes long."""
_GRACE_SECONDS = 30.0


@check(
    "watcher.alive",
    "watcher",
    advice="follow the reason that is given; until then the folder is only scanned",
)
def alive(examination: Examination) -> Findings:
    """Look at whether the daemon hears of changes, which it proves to itself with a file of its own every 30 s."""
    for agent in examination.status["agents"] if examination.status else ():
        watcher = agent["watcher"]
        if watcher["mode"] == "off":
            found = Finding("look", "changes are noticed by scans alone", "sync.watch: true has events followed")
        elif watcher["ok"]:
            found = Finding("ok", f"follows {watcher['mode']}")
        else:
            hint = "the folder is scanned meanwhile; see the checks about file events, then restart memoryd"
            found = Finding("wrong", watcher.get("reason") or "it hears nothing", hint)
        yield from with_part(f"watcher of {agent['id']}", found)


@check(
    "watcher.scan",
    "scanner",
    advice="ask for a look: `memoryctl sync`; if that does not end, restart the daemon",
)
def scanned(examination: Examination) -> Findings:
    """Look at when each workspace was compared with its index last, against `sync.reconcileSeconds`."""
    if examination.status is None:
        return
    wanted = {agent.id: agent.memory_search.sync.reconcile_seconds for agent in examination.agents}
    for agent in examination.status["agents"]:
        found = scan_finding(agent, wanted.get(agent["id"], 0.0), datetime.now(UTC))
        yield from with_part(f"scanner of {agent['id']}", found)


def scan_finding(agent: AgentStatus, every_seconds: float, now: datetime) -> Finding:
    """Judge the age of a scan; 0 seconds: there is none by the clock."""
    at = agent["lastScanAt"]
    told = f"last scan {ago(at, now)}"
    hint = "memoryctl sync asks for one; if that does not end, restart memoryd"
    if at is None:
        return Finding("look", "the folder was not looked at yet", hint)
    age = (now - datetime.fromisoformat(at)).total_seconds()
    if age < -_GRACE_SECONDS:
        return Finding("look", "the last scan was in the future: the clock was set back", "memoryctl sync")
    if every_seconds and age > LATE * every_seconds + _GRACE_SECONDS:
        return Finding("wrong", f"{told}, though there is to be one every {every_seconds:g} s", hint)
    return Finding("ok", told)
