"""Checks of doctor for the machine: clock, disks, file events of Linux, rights on our files, and other machines."""

import os
import shlex
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

from memoryd.cli.checks.finding import CheckContext, Finding, Findings, FindingState, check, chmod, with_part
from memoryd.cli.terminal import count, size
from memoryd.config.agents import Agent
from memoryd.config.paths import cache_dir, lock_file, move_command, state_dir
from memoryd.domain.documents import printable_name
from memoryd.domain.memories.machines import machine_key
from memoryd.errors import ConfigError
from memoryd.files.machine_journals import read_journals
from memoryd.files.roots import roots_and_rules
from memoryd.files.scanner import ScanRoot, ScanRules, scan
from memoryd.store.index.schema import APPLICATION_ID
from memoryd.store.ledger.database import LEDGER
from memoryd.store.opening import read_header

EARLIEST = datetime(2026, 1, 1, tzinfo=UTC)
"""A time before this version was written is wrong: a clock without a battery starts in 1970, or at its build date."""
AHEAD_SECONDS = 120.0
"""Tolerance for files that another machine wrote with a slightly different clock."""
_ZONES = Path("/usr/share/zoneinfo")


@check(
    "clock.sane",
    "clock",
    advice="set the clock (`timedatectl set-ntp true`); `touch` files that are dated in the future",
)
def sane(examination: CheckContext) -> Findings:
    """Check the clock against the dates of the notes, and the time zone in which days are counted."""
    now = datetime.now(UTC)
    if now < EARLIEST:
        yield Finding("wrong", f"it is {now:%Y-%m-%d} by the clock", "set it: sudo timedatectl set-ntp true")
        return
    for agent in examination.agents:
        files, limit = scan(*_roots(agent, examination)).files, (now.timestamp() + AHEAD_SECONDS) * 1e9
        ahead = sorted(path for path, file in files.items() if file.mtime_ns > limit)
        if ahead:
            message = f"{count(len(ahead), 'note')} of {agent.id} dated in the future, {printable_name(ahead[0])} first"
            hint = "if the clock is right, touch them: they count as newer than all other notes"
            yield Finding("look", message, hint)
    yield zone_finding(examination.config.memory.timezone, os.environ.get("TZ", ""), now)


def _roots(agent: Agent, examination: CheckContext) -> tuple[list[ScanRoot], ScanRules]:
    return roots_and_rules(agent, max_file_bytes=examination.config.limits.max_file_bytes)


def zone_finding(chosen: str | None, named: str, now: datetime) -> Finding:
    """Return the finding about the time zone, `chosen` in the configuration or `named` in TZ, in which days begin."""
    if chosen is not None:
        return Finding("ok", f"{now.astimezone(ZoneInfo(chosen)):%Y-%m-%d %H:%M} {chosen}")
    zone = named.removeprefix(":")
    if zone and "/" in zone and _ZONES.is_dir() and not (_ZONES / zone).exists():
        message = f"TZ names {zone}, which this system does not know, so that UTC is used"
        return Finding("look", message, "name a zone of /usr/share/zoneinfo, or unset TZ")
    local = now.astimezone()
    return Finding("ok", f"{local:%Y-%m-%d %H:%M} {local.tzname()}")


FULL_BYTES = 16 * 2**20
"""With less free space an index cannot be updated."""
TIGHT_BYTES = 512 * 2**20
TIGHT_FILES = 1000
_HINT = "free some space; memoryctl models list shows models that can be fetched again"


@check(
    "disk.space",
    "disk",
    advice="free some space: `memoryctl models list` shows models that can be fetched again",
)
def space(examination: CheckContext) -> Findings:
    """Check free bytes and inodes on the disks of state folder, cache, indexes and workspaces."""
    places = {state_dir(): "state folder", cache_dir(): "cache"}
    for agent in examination.agents:
        places.setdefault(agent.index_path.parent, "index")
        places.setdefault(agent.workspace, "workspace")
    devices = set()
    for path, noun in places.items():
        existing = _nearest(path)
        device = existing.stat().st_dev
        if device not in devices:
            devices.add(device)
            yield space_finding(f"{noun} {existing}", os.statvfs(existing))


def _nearest(path: Path) -> Path:
    """Return the path, or the nearest parent that exists."""
    return next((place for place in (path, *path.parents) if place.exists()), Path("/"))


def space_finding(where: str, disk: os.statvfs_result) -> Finding:
    """Return the finding about a disk; a file system without inodes reports 0 of 0."""
    free, files = disk.f_bavail * disk.f_frsize, disk.f_favail
    if free < FULL_BYTES:
        return Finding("wrong", f"the disk of the {where} is full: {size(free)} free", _HINT)
    if disk.f_files and not files:
        return Finding("wrong", f"the disk of the {where} takes no more files: no inode is free", _HINT)
    if free < TIGHT_BYTES:
        return Finding("look", f"{size(free)} free on the disk of the {where}", _HINT)
    if disk.f_files and files < TIGHT_FILES:
        return Finding("look", f"room for {count(files, 'file')} on the disk of the {where}", _HINT)
    return Finding("ok", f"{size(free)} free on the disk of the {where}")


_WATCHES = "max_user_watches"
_INSTANCES = "max_user_instances"
ROOM = 0.8
"""Share of a limit that memoryd may use: other programs of the user, such as an editor, may need thousands."""


@check(
    "inotify.watches",
    "file events",
    advice="`sudo sysctl -w fs.inotify.max_user_watches=…`, and the same line in `/etc/sysctl.d/60-memoryd.conf`",
)
def watches(examination: CheckContext) -> Findings:
    """Check `fs.inotify.max_user_watches` against the number of watched folders (Linux)."""
    limit = _limit(examination.proc, _WATCHES)
    if limit is None:
        yield Finding("off", f"{sys.platform} has no such limit")
        return
    needed = _watched_folders(examination)
    message = f"{count(needed, 'folder')} to watch, of {limit:,} that the system allows"
    state: FindingState = "wrong" if needed > limit else "look" if needed > ROOM * limit else "ok"
    yield _limit_finding(state, message, _WATCHES, max(524_288, 2 * needed))


@check(
    "inotify.instances",
    "file events",
    advice="`sudo sysctl -w fs.inotify.max_user_instances=512`, and the same line in `/etc/sysctl.d/60-memoryd.conf`",
)
def instances(examination: CheckContext) -> Findings:
    """Check `fs.inotify.max_user_instances` against the instances that your processes use (Linux)."""
    limit = _limit(examination.proc, _INSTANCES)
    if limit is None:
        return
    used = sum(_count_instances(process) for process in examination.proc.iterdir() if process.name.isdecimal())
    message = f"{count(used, 'instance')} in use, of {limit:,} that the system allows"
    state: FindingState = "wrong" if used >= limit else "look" if used > ROOM * limit else "ok"
    yield _limit_finding(state, message, _INSTANCES, 2 * limit)


def _limit(proc: Path, name: str) -> int | None:
    try:
        return int((proc / "sys/fs/inotify" / name).read_text())
    except (OSError, ValueError):
        return None


def _watched_folders(examination: CheckContext) -> int:
    folders: set[str] = set()
    for agent in examination.agents:
        if agent.memory_search.sync.watch:
            snapshot = scan(*_roots(agent, examination))
            folders |= {*snapshot.folders, *snapshot.above}
    return len(folders)


def _count_instances(process: Path) -> int:
    try:
        if process.stat().st_uid != os.geteuid():
            return 0
        return sum(_target(link) == "anon_inode:inotify" for link in (process / "fd").iterdir())
    except OSError:
        # the process ended, or its files cannot be listed
        return 0


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        # the file was closed in between
        return ""


def _limit_finding(state: FindingState, message: str, name: str, value: int) -> Finding:
    """Return the finding; if it is not ok, the hint raises the limit `name` to `value`."""
    line = f"fs.inotify.{name}={value}"
    hint = f"sudo sysctl -w {line}; to keep it: echo {line} | sudo tee -a /etc/sysctl.d/60-memoryd.conf"
    return Finding(state, message, "" if state == "ok" else hint)


MAX_UNREAD = 5


@check(
    "permissions.ours",
    "permissions",
    advice="remove the rights of others: `--fix` does, with `chmod go-rwx`",
    needs_config=False,
)
def ours(examination: CheckContext) -> Findings:
    """Check whether other users can read the state folder, or indexes and ledgers outside of it."""
    state = state_dir()
    folders = [state] if state.is_dir() else []
    open_to_others = [path for path in (*folders, *_reachable_databases(examination, state)) if _is_open(path)]
    for path in open_to_others:
        hint = f"chmod go-rwx {shlex.quote(str(path))}"
        message = f"{path} is open to others (mode {stat.S_IMODE(path.stat().st_mode):04o})"
        # a shared folder such as /tmp was not made by memoryd, and must not be closed
        is_ours = path != state or (
            (lock_file().exists() or (state / "workspaces").is_dir()) and not state.stat().st_mode & stat.S_ISVTX
        )
        yield Finding("open", message, hint, chmod(path, 0o700, hint) if is_ours else None)
    if not open_to_others and folders:
        yield Finding("ok", f"{state} is yours alone")


@check(
    "permissions.workspace",
    "permissions",
    advice="`chmod go-rwx` the workspace, unless others should read it",
)
def workspace(examination: CheckContext) -> Findings:
    """Check whether other users of the machine can read the notes."""
    for path in dict.fromkeys(agent.workspace for agent in examination.agents):
        if path.is_dir() and may_be_listed(path.stat().st_mode, _modes_above(path)):
            message = f"other users of this machine can read the notes in {path}"
            yield Finding("open", message, f"unless they should: chmod go-rwx {shlex.quote(str(path))}")


@check(
    "permissions.notes",
    "permissions",
    advice="`chmod u+rX` the note or folder, or give it back to its owner (`chown`); else list it in `.memoryignore`",
)
def notes(examination: CheckContext) -> Findings:
    """Check whether memoryctl may read every note, and list every folder of notes."""
    for agent in examination.agents:
        roots, rules = _roots(agent, examination)
        snapshot = scan(roots, rules)
        paths = (Path(rules.place(path)) for path in sorted({*snapshot.files, *snapshot.unreadable}))
        unread = (path for path in paths if not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)))
        for path in islice(unread, MAX_UNREAD):
            message = f"no permission to read {printable_name(str(path))}: it is not indexed"
            yield Finding("look", message, _recovery_command(path, "u+rX"))


def _recovery_command(path: Path, mode: str) -> str:
    """Return the command that gives us the rights to a file or folder back."""
    if path.stat().st_uid == os.geteuid():
        return f"chmod {mode} {shlex.quote(str(path))}"
    return f"give it back to yourself, for example: sudo chown -R {os.geteuid()} {shlex.quote(str(path))}"


@check(
    "permissions.writable",
    "permissions",
    advice="give the folder back to its owner (`chown`, `chmod u+rwx`), or mount the disk for writing",
)
def writable(examination: CheckContext) -> Findings:
    """Check whether memoryd may write to its folders: state, cache, and the workspace unless `memory.readOnly`."""
    places = {state_dir(): "state folder", cache_dir(): "cache"}
    for agent in examination.agents:
        places.setdefault(agent.index_path.parent, "folder of the index")
        if not agent.memory.read_only:
            places.setdefault(agent.workspace, "workspace")
    for place, noun in places.items():
        path = _nearest(place)
        if not path.is_dir():
            message = f"{path} is a file, where the {noun} should be"
            yield Finding("wrong", message, f"move it away: {move_command(path)}")
        elif not os.access(path, os.W_OK | os.X_OK):
            owner = path.stat().st_uid
            whose = "" if owner == os.geteuid() else f": it belongs to uid {owner}"
            message = f"the {noun} {path} may not be written{whose}"
            yield Finding("wrong", message, _recovery_command(path, "u+rwx"))


def may_be_listed(mode: int, above: Iterable[int]) -> bool:
    """Return whether other users can list a folder, by its mode and the modes of its parents."""
    listing = stat.S_IROTH | stat.S_IXOTH
    return mode & listing == listing and _is_passable(above)


def _is_passable(modes: Iterable[int]) -> bool:
    return all(mode & stat.S_IXOTH for mode in modes)


def _reachable_databases(examination: CheckContext, state: Path) -> Iterator[Path]:
    """Yield our databases outside the state folder in folders that other users can enter."""
    for agent in examination.agents if examination.loaded else ():
        for path in (agent.index_path, agent.ledger_path, agent.conversations_path):
            if _is_our_database(path) and not path.is_relative_to(state) and _is_passable(_modes_above(path)):
                yield path


def _is_our_database(path: Path) -> bool:
    """Return whether a file has a header of memoryd: the configuration may name another database by mistake."""
    try:
        header = read_header(path)
    except (OSError, ValueError):
        return False
    return header is not None and header.application in (APPLICATION_ID, LEDGER.application)


def _modes_above(path: Path) -> list[int]:
    return [above.stat().st_mode for above in path.resolve().parents]


def _is_open(path: Path) -> bool:
    """Return whether a file or folder of ours gives others any right; False if it was removed."""
    try:
        info = path.lstat()
    except OSError:
        return False
    is_ours = info.st_uid == os.geteuid() and (stat.S_ISDIR(info.st_mode) or stat.S_ISREG(info.st_mode))
    return is_ours and bool(info.st_mode & (stat.S_IRWXG | stat.S_IRWXO))


@check(
    "machines.journals",
    "machines",
    advice="give all machines on the folder the same `memory.machines.secret`; delete unused journals",
)
def machines(examination: CheckContext) -> Findings:
    """Check the journals that machines sharing a folder exchange beside its notes, and whether all can be read."""
    for agent in examination.agents:
        yield from with_part(f"machines of {agent.id}", *_machine_findings(agent))


def _machine_findings(agent: Agent) -> Findings:
    if (secret := agent.memory.machines.secret) is None:
        yield Finding("off", "only notes are exchanged: memory.machines.secret is unset")
        return
    try:
        journals = read_journals(agent.workspace, machine_key(secret.reveal()), {})
    except (OSError, ConfigError) as exc:
        yield Finding("wrong", str(exc))
        return
    for journal in journals:
        yield from (Finding("look", f"{journal.path.name}: {problem}") for problem in journal.problems(time.time()))
    senders = {entry.machine for journal in journals for entry in journal.entries}
    stays = "proposals, undo, judgements of answers and days of undated lines stay on each machine"
    yield Finding("ok", f"journals of {count(len(senders), 'machine')} are read; {stays}")
