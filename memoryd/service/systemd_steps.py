"""The steps by which systemd runs memoryd for a user, and no longer does. Looks at files, changes nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoryd.config.paths import socket_path
from memoryd.service.hardening import hardening_drop_in
from memoryd.service.installing import Installation, ServiceFiles, changed_lines
from memoryd.service.service_state import ServiceState
from memoryd.service.service_step import ServiceStep, StepKind
from memoryd.service.systemd_units import DROP_IN, FAILED, SERVICE, SOCKET, SYSTEMCTL, UNITS, is_ours
from memoryd.service.unit_files import MARKED, service_unit, socket_unit
from memoryd.service.unit_templates import unit_template
from memoryd.service.writing_steps import file_steps, removal_steps, run_step
from memoryd.wire import SOCKET_NAME

_USUAL: Final = ("/usr/local/bin", "/usr/bin", "/bin")


def systemd_files(installation: Installation, folder: Path, runtime: str) -> ServiceFiles:
    """Return the units and the drop-in; `runtime` is the user's runtime folder, empty if there is none."""
    path = {"PATH": ":".join([*installation.folders, *_USUAL])} if installation.folders else {}
    written = {
        folder / SOCKET: socket_unit(
            unit_template(f"systemd/{SOCKET}"), str(socket_path()), f"{runtime}/memoryd/{SOCKET_NAME}"
        ),
        folder / SERVICE: service_unit(
            unit_template(f"systemd/{SERVICE}"),
            installation.command,
            {**installation.environment, **path},
            why_more_memory=installation.needs.memory,
        ),
    }
    drop_in = folder / DROP_IN
    if not installation.is_hardened:
        return ServiceFiles(written=written, unwanted=(drop_in,) if is_ours(drop_in) else ())
    text = MARKED + hardening_drop_in(unit_template(f"systemd/{DROP_IN.name}"), installation.needs)
    return ServiceFiles(written={**written, drop_in: text}, folders=installation.needs.own)


def systemd_install(files: ServiceFiles, state: ServiceState, *, is_forced: bool) -> Iterator[ServiceStep]:
    """Yield what is left to do until the service runs as it should."""
    changed = changed_lines(files)
    yield from file_steps(files, changed, state, is_forced=is_forced)
    if changed:
        yield _systemctl("systemd reads the units", "daemon-reload")
    if changed or not state.is_enabled:
        yield _systemctl("it starts when you log in", "enable", *UNITS)
    if state.phase.startswith(FAILED):
        yield _systemctl("earlier failures are forgotten", "reset-failed", *UNITS, may_fail=True)
    if changed and state.is_running:
        # the socket stays if it can: who asks meanwhile waits in its queue
        units = UNITS if any(path.name == SOCKET for path in changed) else (SERVICE,)
        yield _systemctl("it takes up what changed", "restart", *units)
    elif not state.is_running:
        yield _systemctl("it starts now", "start", *UNITS)


def systemd_uninstall(state: ServiceState, folder: Path, *, is_forced: bool) -> Iterator[ServiceStep]:
    """Yield what removes all that the installer put there."""
    removed = [path for path in state.files if path.is_relative_to(folder) and (is_forced or path not in state.foreign)]
    if not removed:
        return
    yield _systemctl("it stops, and starts no more", "disable", "--now", *UNITS, may_fail=True)
    yield from removal_steps(removed)
    drop_ins = (folder / DROP_IN).parent
    if drop_ins.is_dir() and not set(drop_ins.iterdir()) - set(removed):
        yield ServiceStep(kind=StepKind.REMOVE, why="nothing else is in it", path=drop_ins, may_fail=True)
    yield _systemctl("systemd forgets the units", "daemon-reload")
    yield _systemctl("systemd forgets its failures", "reset-failed", *UNITS, may_fail=True)


def systemd_start(state: ServiceState) -> Iterator[ServiceStep]:
    """Yield what starts it."""
    if state.phase.startswith(FAILED):
        yield _systemctl("earlier failures are forgotten", "reset-failed", *UNITS, may_fail=True)
    yield _systemctl("the socket first, then the daemon", "start", *UNITS)


def systemd_stop() -> Iterator[ServiceStep]:
    """Yield what stops it; the socket too, for else the next client would start it again."""
    yield _systemctl("the socket too, or the next client starts it again", "stop", *UNITS)


def systemd_restart(state: ServiceState) -> Iterator[ServiceStep]:
    """Yield what starts it anew; who asks meanwhile waits in the queue of the socket."""
    if state.phase.startswith(FAILED) or not state.is_running:
        yield from systemd_start(state)
    else:
        yield _systemctl("clients wait in the queue of the socket meanwhile", "restart", SERVICE)


def _systemctl(why: str, *words: str, may_fail: bool = False) -> ServiceStep:
    return run_step(why, *SYSTEMCTL, *words, may_fail=may_fail)
