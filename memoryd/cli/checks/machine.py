"""What doctor checks of the machine: clock, disks, file events of Linux, rights on our files, and other machines."""

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

from memoryd.cli.checks.finding import Examination, Finding, Findings, FindingState, check, chmod, with_part
from memoryd.cli.terminal import count, size
from memoryd.config.agents import Agent
from memoryd.config.paths import cache_dir, lock_file, moved_away, state_dir
from memoryd.domain.documents import printable_name
from memoryd.domain.memories.machines import machine_key
from memoryd.errors import ConfigError
from memoryd.files.machine_journals import read_journals
from memoryd.files.roots import roots_and_rules
from memoryd.files.scanner import Scan, scan
from memoryd.store.index.schema import APPLICATION_ID
from memoryd.store.ledger.database import LEDGER
from memoryd.store.opening import read_header

EARLIEST = datetime(2026, 1, 1, tzinfo=UTC)
"""Before this version was made: a clock without a battery begins in 1970, or when its system was built."""
AHEAD_SECONDS = 120.0
"""A file of another machine may be a little ahead."""
_ZONES = Path("/usr/share/zoneinfo")


@check(
    "clock.sane",
    "clock",
    advice="set the clock (`timedatectl set-ntp true`); `touch` files that are dated in the future",
)
def sane(examination: Examination) -> Findings:
    """Look at the clock against the newest notes and the last scan, and the time zone that days are counted in."""
    now = datetime.now(UTC)
    if now < EARLIEST:
        yield Finding("wrong", f"it is {now:%Y-%m-%d} by the clock", "set it: sudo timedatectl set-ntp true")
        return
    for agent in examination.agents:
        files, limit = _scan(agent, examination).files, (now.timestamp() + AHEAD_SECONDS) * 1e9
        ahead = sorted(path for path, found in files.items() if found.mtime_ns > limit)
        if ahead:
            message = f"{count(len(ahead), 'note')} of {agent.id} dated in the future, {printable_name(ahead[0])} first"
            hint = "if the clock is right, touch them; they count as newer than all others"
            yield Finding("look", message, hint)
    yield zone_finding(examination.config.memory.timezone, os.environ.get("TZ", ""), now)


def _scan(agent: Agent, examination: Examination) -> Scan:
    return scan(*roots_and_rules(agent, max_file_bytes=examination.config.limits.max_file_bytes))


def zone_finding(chosen: str | None, named: str, now: datetime) -> Finding:
    """Judge the time zone, chosen in the configuration or that of TZ: days of notes and of memories begin in it."""
    if chosen is not None:
        return Finding("ok", f"{now.astimezone(ZoneInfo(chosen)):%Y-%m-%d %H:%M} {chosen}")
    zone = named.removeprefix(":")
    if zone and "/" in zone and _ZONES.is_dir() and not (_ZONES / zone).exists():
        message = f"TZ names {zone}, which this system does not know, and UTC holds"
        return Finding("look", message, "name one of /usr/share/zoneinfo, or take TZ away")
    local = now.astimezone()
    return Finding("ok", f"{local:%Y-%m-%d %H:%M} {local.tzname()}")


FULL_BYTES = 16 * 2**20
"""Less than this, and an index cannot be brought up to date."""
TIGHT_BYTES = 512 * 2**20
TIGHT_FILES = 1000
_HINT = "make room there; memoryctl models list shows models that can be fetched again"


@check(
    "disk.space",
    "disk",
    advice="make room: `memoryctl models list` shows models that can be fetched again",
)
def space(examination: Examination) -> Findings:
    """Look at free bytes and inodes below state folder, cache and workspaces."""
    config = examination.config
    places = {state_dir(): "state folder", cache_dir(): "cache"}
    for agent in config.resolved_agents():
        places.setdefault(agent.index_path.parent, "index")
        places.setdefault(agent.workspace, "workspace")
    seen: dict[int, str] = {}
    for path, what in places.items():
        there = _nearest(path)
        device = there.stat().st_dev
        if device not in seen:
            seen[device] = what
            yield space_finding(f"{what} {there}", os.statvfs(there))


def _nearest(path: Path) -> Path:
    """Return the path, or what of it there is."""
    return next((one for one in (path, *path.parents) if one.exists()), Path("/"))


def space_finding(where: str, found: os.statvfs_result) -> Finding:
    """Judge a disk; a file system that counts no inodes says 0 of 0."""
    free, files = found.f_bavail * found.f_frsize, found.f_favail
    if free < FULL_BYTES:
        return Finding("wrong", f"the disk of the {where} is full: {size(free)} free", _HINT)
    if found.f_files and not files:
        return Finding("wrong", f"the disk of the {where} takes no more files: no inode is free", _HINT)
    if free < TIGHT_BYTES:
        return Finding("look", f"{size(free)} free on the disk of the {where}", _HINT)
    if found.f_files and files < TIGHT_FILES:
        return Finding("look", f"room for {count(files, 'file')} on the disk of the {where}", _HINT)
    return Finding("ok", f"{size(free)} free on the disk of the {where}")


_WATCHES = "max_user_watches"
_INSTANCES = "max_user_instances"
ROOM = 0.8
"""Other programs of the user share the limit: an editor may take thousands."""


@check(
    "inotify.watches",
    "file events",
    advice="`sudo sysctl -w fs.inotify.max_user_watches=…`, and the same line in `/etc/sysctl.d/60-memoryd.conf`",
)
def watches(examination: Examination) -> Findings:
    """Look at `fs.inotify.max_user_watches` against the number of folders that are watched (Linux)."""
    limit = _limit(examination.proc, _WATCHES)
    if limit is None:
        yield Finding("off", f"{sys.platform} has no such limit")
        return
    needed = _folders(examination)
    found = f"{count(needed, 'folder')} to watch, of {limit:,} that the system allows"
    state: FindingState = "wrong" if needed > limit else "look" if needed > ROOM * limit else "ok"
    yield _events_finding(state, found, _WATCHES, max(524_288, 2 * needed))


@check(
    "inotify.instances",
    "file events",
    advice="`sudo sysctl -w fs.inotify.max_user_instances=512`, and the same line in `/etc/sysctl.d/60-memoryd.conf`",
)
def instances(examination: Examination) -> Findings:
    """Look at `fs.inotify.max_user_instances` against those that your processes have (Linux)."""
    limit = _limit(examination.proc, _INSTANCES)
    if limit is None:
        return
    used = sum(_instances_of(process) for process in examination.proc.iterdir() if process.name.isdecimal())
    found = f"{count(used, 'instance')} in use, of {limit:,} that the system allows"
    state: FindingState = "wrong" if used >= limit else "look" if used > ROOM * limit else "ok"
    yield _events_finding(state, found, _INSTANCES, 2 * limit)


def _limit(proc: Path, name: str) -> int | None:
    try:
        return int((proc / "sys/fs/inotify" / name).read_text())
    except (OSError, ValueError):
        return None


def _folders(examination: Examination) -> int:
    folders: set[str] = set()
    for agent in examination.agents:
        if agent.memory_search.sync.watch:
            seen = _scan(agent, examination)
            folders |= {*seen.folders, *seen.above}
    return len(folders)


def _instances_of(process: Path) -> int:
    try:
        if process.stat().st_uid != os.geteuid():
            return 0
        return sum(_target(link) == "anon_inode:inotify" for link in (process / "fd").iterdir())
    except OSError:
        # it ended, or does not let itself be looked at
        return 0


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        # closed meanwhile
        return ""


def _events_finding(state: FindingState, found: str, name: str, value: int) -> Finding:
    """Return the finding, with how to raise a limit that is not well."""
    line = f"fs.inotify.{name}={value}"
    hint = f"sudo sysctl -w {line}; to keep it: echo {line} | sudo tee -a /etc/sysctl.d/60-memoryd.conf"
    return Finding(state, found, "" if state == "ok" else hint)


MAX_UNREAD = 5
_OTHERS = 0o077


@check(
    "permissions.ours",
    "permissions",
    advice="take the rights away: `--fix` does, as `chmod go-rwx`",
    needs_config=False,
)
def ours(examination: Examination) -> Findings:
    """Look at whether other users can read the state folder with its indexes and ledgers, or the configuration."""
    state = state_dir()
    ours = [state] if state.is_dir() else []
    open_to_others = [path for path in (*ours, *_open_databases(examination, state)) if _is_open(path)]
    for path in open_to_others:
        hint = f"chmod go-rwx {shlex.quote(str(path))}"
        message = f"{path} is open to others (mode {stat.S_IMODE(path.stat().st_mode):04o})"
        # one that others share, such as /tmp, was not made for us
        is_ours = path != state or (
            (lock_file().exists() or (state / "workspaces").is_dir()) and not state.stat().st_mode & stat.S_ISVTX
        )
        yield Finding("open", message, hint, chmod(path, 0o700, hint) if is_ours else None)
    if not open_to_others and ours:
        yield Finding("ok", f"{state} is yours alone")


@check(
    "permissions.workspace",
    "permissions",
    advice="`chmod go-rwx` the workspace, unless others are meant to read it",
)
def workspace(examination: Examination) -> Findings:
    """Look at whether other users of the machine can read the notes."""
    for path in dict.fromkeys(agent.workspace for agent in examination.agents):
        if path.is_dir() and may_be_listed(path.stat().st_mode, _modes_above(path)):
            message = f"other users of this machine can read the notes in {path}"
            yield Finding("open", message, f"unless they are meant to: chmod go-rwx {shlex.quote(str(path))}")


@check(
    "permissions.notes",
    "permissions",
    advice="`chmod u+rX` the note or folder, or give it back to its owner (`chown`); else list it in `.memoryignore`",
)
def notes(examination: Examination) -> Findings:
    """Look at whether we may read every note, and list every folder of notes."""
    for agent in examination.agents:
        roots, rules = roots_and_rules(agent, max_file_bytes=examination.config.limits.max_file_bytes)
        seen = scan(roots, rules)
        places = (Path(rules.place(path)) for path in sorted({*seen.files, *seen.unreadable}))
        for path in islice(
            (one for one in places if not os.access(one, os.R_OK | (os.X_OK if one.is_dir() else 0))), MAX_UNREAD
        ):
            message = f"no permission to read {printable_name(str(path))}: it is not indexed"
            yield Finding("look", message, _recovery_command(path, "u+rX"))


def _recovery_command(path: Path, mode: str) -> str:
    """Return the command by which we get the rights to a file or folder again."""
    if path.stat().st_uid == os.geteuid():
        return f"chmod {mode} {shlex.quote(str(path))}"
    return f"give it back to yourself, for example: sudo chown -R {os.geteuid()} {shlex.quote(str(path))}"


@check(
    "permissions.writable",
    "permissions",
    advice="give the folder back to its owner (`chown`, `chmod u+rwx`), or mount the disk for writing",
)
def writable(examination: Examination) -> Findings:
    """Look at whether we may write where memoryd has to: state, cache, and the workspace unless `memory.readOnly`."""
    config = examination.config
    wanted = {state_dir(): "state folder", cache_dir(): "cache"}
    for agent in config.resolved_agents():
        wanted.setdefault(agent.index_path.parent, "folder of the index")
        if not agent.memory.read_only:
            wanted.setdefault(agent.workspace, "workspace")
    for path, what in wanted.items():
        there = _nearest(path)
        if not there.is_dir():
            message = f"{there} is a file, where the {what} should be"
            yield Finding("wrong", message, f"move it away: {moved_away(there)}")
        elif not os.access(there, os.W_OK | os.X_OK):
            whose = "" if there.stat().st_uid == os.geteuid() else f": it belongs to uid {there.stat().st_uid}"
            message = f"the {what} {there} may not be written{whose}"
            yield Finding("wrong", message, _recovery_command(there, "u+rwx"))


def may_be_listed(mode: int, above: Iterable[int]) -> bool:
    """Tell whether other users can list a folder, by its mode and the modes of those above it."""
    listing = stat.S_IROTH | stat.S_IXOTH
    return mode & listing == listing and all(one & stat.S_IXOTH for one in above)


def _open_databases(examination: Examination, state: Path) -> Iterator[Path]:
    """Yield files of ours outside of the state folder that others get to."""
    for agent in examination.agents if examination.loaded else ():
        for path in (agent.index_path, agent.ledger_path, agent.conversations_path):
            if (
                _is_database_of_ours(path)
                and not path.is_relative_to(state)
                and all(one & stat.S_IXOTH for one in _modes_above(path))
            ):
                yield path


def _is_database_of_ours(path: Path) -> bool:
    """Tell whether a file has our mark; a key may name a database of another program by mistake."""
    try:
        header = read_header(path)
    except (OSError, ValueError):
        return False
    return header is not None and header.application in (APPLICATION_ID, LEDGER.application)


def _modes_above(path: Path) -> list[int]:
    return [above.stat().st_mode for above in path.resolve().parents]


def _is_open(path: Path) -> bool:
    """Tell whether a file or folder of ours gives others any right; what goes meanwhile does not."""
    try:
        found = path.lstat()
    except OSError:
        return False
    is_ours = found.st_uid == os.geteuid() and (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode))
    return is_ours and bool(stat.S_IMODE(found.st_mode) & _OTHERS)


@check(
    "machines.journals",
    "machines",
    advice="give all machines on the folder the same `memory.machines.secret`; delete what no machine writes any more",
)
def machines(examination: Examination) -> Findings:
    """Look at what travels between the machines on one folder beside its notes, and at what cannot be read of it."""
    for agent in examination.agents:
        yield from with_part(f"machines of {agent.id}", *_of_machines(agent))


def _of_machines(agent: Agent) -> Findings:
    if (secret := agent.memory.machines.secret) is None:
        yield Finding("off", "nothing but notes travels: memory.machines.secret is unset")
        return
    try:
        journals = read_journals(agent.workspace, machine_key(secret.reveal()), {})
    except (OSError, ConfigError) as exc:
        yield Finding("wrong", str(exc))
        return
    for one in journals:
        yield from (Finding("look", f"{one.path.name}: {problem}") for problem in one.problems(time.time()))
    heard = {entry.machine for one in journals for entry in one.entries}
    stays = "proposals, undo, judgements of what was told and days of undated lines stay on each"
    yield Finding("ok", f"{count(len(heard), 'machine')} told something; {stays}")
