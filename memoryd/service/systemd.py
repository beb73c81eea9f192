"""systemd for one user: its unit files and their syntax, the hardening drop-in, `systemctl --user`, and the steps.

Planning only reads files and changes nothing. Values are escaped so that systemd reads them unchanged:
systemd.syntax(7) and systemd.unit(5).
"""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from memoryd.config.paths import socket_path
from memoryd.errors import InvalidRequest
from memoryd.service.installing import Installation, ServiceFiles, changed_lines
from memoryd.service.needs import TEMPORARY, ServiceNeeds
from memoryd.service.steps import (
    ManagerName,
    ServiceState,
    ServiceStep,
    file_steps,
    is_ours,
    removal_steps,
    run_program,
    run_step,
    state_of_files,
    unit_template,
    unit_text,
)
from memoryd.wire import SOCKET_NAME

SYSTEMCTL = ("systemctl", "--user")
SERVICE = "memoryd.service"
SOCKET = "memoryd.socket"
UNITS = (SOCKET, SERVICE)
DROP_IN = Path("memoryd.service.d") / "hardening.conf"
FAILED = "failed"
MASKED = "masked"
PROPERTIES = "LoadState,ActiveState,SubState,Result,MainPID,UnitFileState,FragmentPath"
UNMASK = f"if it is to run: systemctl --user unmask {' '.join(UNITS)}"
NO_NAMESPACES = {
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1",
    "/proc/sys/kernel/unprivileged_userns_clone": "0",
    "/proc/sys/user/max_user_namespaces": "0",
}
"""Kernel settings of Ubuntu, of Debian and of every Linux, and the value that forbids user namespaces."""
_SYSTEM_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin")
HEADER = (
    "# Written by `memoryctl service install`, which writes it anew. What you want otherwise goes into a file\n"
    "# of your own beside it: systemctl --user edit memoryd\n"
)
COMMAND = "ExecStart=%h/.local/bin/memoryd"
SOCKET_LINE = "ListenStream=%t/memoryd/memoryd.sock"
PLACEHOLDER = "# the installer puts the absolute path of the command here\n"
MORE_MEMORY = {"MemoryHigh=2G": "MemoryHigh=8G", "MemoryMax=4G": "MemoryMax=12G"}
WRITABLE = "@WRITABLE@"


class SystemdManager(Struct, frozen=True):
    """Asks the user's systemd. Plans have only the remaining steps: none if everything is as wanted."""

    environment: Mapping[str, str]
    name: ManagerName = "systemd"

    @property
    def folder(self) -> Path:
        """The folder of memoryd's units."""
        return unit_folder(self.environment)

    @property
    def places(self) -> tuple[Path, ...]:
        """The paths of the units and the drop-in, which may not exist."""
        return tuple(self.folder / name for name in (*UNITS, DROP_IN))

    def state(self) -> ServiceState:
        """Return the state of the service; never raises."""
        answer = run_program((*SYSTEMCTL, "show", f"--property={PROPERTIES}", SERVICE), self.environment, seconds=10)
        state = replace(state_of_files("systemd", self.places), lingers=self.lingers())
        if not answer.is_success:
            return replace(state, reason=answer.reason, hint="see what it says: systemctl --user status memoryd")
        return _with_properties(state, answer.properties)

    def lingers(self) -> bool | None:
        """Return whether the user's services go on after logout; None if that is unknown."""
        user = self.environment.get("USER") or str(os.getuid())
        answer = run_program(("loginctl", "show-user", user, "--property=Linger"), self.environment, seconds=10)
        linger = answer.properties.get("Linger") if answer.is_success else None
        # loginctl does not know a user who is not logged in, but the file of the setting is readable
        if linger is None:
            return True if (Path("/var/lib/systemd/linger") / user).exists() else None
        return linger == "yes"

    def files(self, installation: Installation) -> ServiceFiles:
        """Return the units and the drop-in; raises InvalidRequest for a path that a unit cannot contain."""
        path = {"PATH": ":".join([*installation.folders, *_SYSTEM_FOLDERS])} if installation.folders else {}
        default_socket = f"{self.environment.get('XDG_RUNTIME_DIR', '')}/memoryd/{SOCKET_NAME}"
        service = service_unit(
            unit_template(f"systemd/{SERVICE}"),
            installation.command,
            {**installation.environment, **path},
            why_more_memory=installation.needs.memory,
        )
        socket = socket_unit(unit_template(f"systemd/{SOCKET}"), str(socket_path()), default_socket)
        written = {self.folder / SOCKET: socket, self.folder / SERVICE: service}
        drop_in = self.folder / DROP_IN
        if not installation.is_hardened:
            return ServiceFiles(written=written, unwanted=(drop_in,) if is_ours(drop_in) else ())
        text = HEADER + hardening_drop_in(unit_template(f"systemd/{DROP_IN.name}"), installation.needs)
        return ServiceFiles(written={**written, drop_in: text}, folders=installation.needs.own)

    def install(self, files: ServiceFiles, state: ServiceState, *, is_forced: bool = False) -> Iterator[ServiceStep]:
        """Yield the steps that install and start the service.

        Raises NotPermitted for a file that memoryd did not write, unless `is_forced`.
        """
        changed = changed_lines(files)
        yield from file_steps(files, changed, state, is_forced=is_forced)
        if changed:
            yield _systemctl("systemd reads the units", "daemon-reload")
        if changed or not state.is_enabled:
            yield _systemctl("it starts when you log in", "enable", *UNITS)
        yield from _forget_failures(state)
        if changed and state.is_running:
            # the socket stays open if it did not change: clients wait in its queue during the restart
            units = UNITS if any(path.name == SOCKET for path in changed) else (SERVICE,)
            yield _systemctl("it takes up what changed", "restart", *units)
        elif not state.is_running:
            yield _systemctl("it starts now", "start", *UNITS)

    def uninstall(self, state: ServiceState, *, is_forced: bool = False) -> Iterator[ServiceStep]:
        """Yield the steps that stop the service and remove its files; with `is_forced` also foreign files."""
        ours = [path for path in state.files if is_forced or path not in state.foreign]
        removed = [path for path in ours if path.is_relative_to(self.folder)]
        if not removed:
            return
        yield _systemctl("it stops, and does not start again", "disable", "--now", *UNITS, may_fail=True)
        yield from removal_steps(removed)
        drop_ins = (self.folder / DROP_IN).parent
        if drop_ins.is_dir() and not set(drop_ins.iterdir()) - set(removed):
            yield ServiceStep("remove", "nothing else is in it", drop_ins, may_fail=True)
        yield _systemctl("systemd forgets the units", "daemon-reload")
        yield _systemctl("systemd forgets its failures", "reset-failed", *UNITS, may_fail=True)

    def start(self, state: ServiceState) -> Iterator[ServiceStep]:
        """Yield the steps that start the service."""
        yield from _forget_failures(state)
        yield _systemctl("the socket first, then the daemon", "start", *UNITS)

    def stop(self, _state: ServiceState) -> Iterator[ServiceStep]:
        """Yield the steps that stop the service, and the socket, through which the next client would start it again."""
        yield _systemctl("the socket too, or the next client starts it again", "stop", *UNITS)

    def restart(self, state: ServiceState) -> Iterator[ServiceStep]:
        """Yield the steps that restart the service; clients wait in the queue of the socket during the restart."""
        if state.phase.startswith(FAILED) or not state.is_running:
            yield from self.start(state)
        else:
            yield _systemctl("clients wait in the queue of the socket until then", "restart", SERVICE)


def _forget_failures(state: ServiceState) -> Iterator[ServiceStep]:
    if state.phase.startswith(FAILED):
        yield _systemctl("earlier failures are forgotten", "reset-failed", *UNITS, may_fail=True)


def _systemctl(why: str, *words: str, may_fail: bool = False) -> ServiceStep:
    return run_step(why, *SYSTEMCTL, *words, may_fail=may_fail)


def _with_properties(state: ServiceState, properties: Mapping[str, str]) -> ServiceState:
    if properties.get("LoadState") == MASKED or any(
        path.is_symlink() and os.path.realpath(path) == os.devnull for path in state.files
    ):
        return replace(state, phase=MASKED, reason="its units are masked, so that nothing starts it", hint=UNMASK)
    active, phase = properties.get("ActiveState", ""), properties.get("SubState", "")
    pid = properties.get("MainPID", "0")
    result = properties.get("Result", "success")
    is_bad = active == FAILED or result not in ("", "success")
    return replace(
        state,
        # units of a distribution package are in another folder
        files=state.files or tuple(Path(path) for path in [properties.get("FragmentPath", "")] if path),
        is_enabled=properties.get("UnitFileState", "") == "enabled",
        is_running=active in ("active", "reloading"),
        pid=int(pid) if pid.isdecimal() and int(pid) else None,
        phase=f"{active} ({phase})" if phase else active,
        reason=f"the last run ended with {result}" if is_bad else "",
        hint="read why: memoryctl service logs" if is_bad else "",
    )


def leftover_units(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return memoryd's unit files and links that systemd would read, for when systemd does not answer."""
    folder = unit_folder(environment)
    links = (path for name in UNITS for path in sorted(folder.glob(f"*.wants/{name}")) if path.is_symlink())
    return (*links, *(path for name in (*UNITS, DROP_IN) if (path := folder / name).is_file() and is_ours(path)))


def why_no_namespaces() -> str:
    """Return why a user's systemd cannot harden a service on this machine; empty if no reason is known."""
    for name, wrong in NO_NAMESPACES.items():
        with contextlib.suppress(OSError):
            if Path(name).read_text().strip() == wrong:
                return f"this system lets users make no namespaces ({name} is {wrong}), which hardening needs"
    return ""


def unit_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the user's own units."""
    folder = Path(environment.get("XDG_CONFIG_HOME", ""))
    return (folder if folder.is_absolute() else Path.home() / ".config") / "systemd" / "user"


def service_unit(
    template: str, command: Sequence[str], environment: Mapping[str, str], *, why_more_memory: str = ""
) -> str:
    """Return the text of memoryd.service; raises InvalidRequest for a path that a unit cannot contain."""
    # a single dollar would start a variable
    words = [program_word(command[0]), *(quoted(word).replace("$", "$$") for word in command[1:])]
    lines = [f"ExecStart={' '.join(words)}"]
    lines += [f"Environment={quoted(f'{name}={value}')}" for name, value in environment.items()]
    text = template.replace(PLACEHOLDER, "").replace(COMMAND, "\n".join(lines))
    if why_more_memory:
        for default, more in MORE_MEMORY.items():
            text = text.replace(default, f"# more than {default.partition('=')[2]}, for {why_more_memory}\n{more}")
    return HEADER + text


def socket_unit(template: str, socket: str, default_socket: str) -> str:
    """Return the text of memoryd.socket, which listens on `socket`; raises InvalidRequest as `service_unit` does.

    For the default socket the unit uses systemd's placeholder for the runtime folder.
    """
    line = SOCKET_LINE if socket == default_socket else f"ListenStream={full_value(socket)}"
    return HEADER + template.replace(SOCKET_LINE, line)


def hardening_drop_in(template: str, needs: ServiceNeeds) -> str:
    """Return the text of the drop-in, with the writable folders; lines that forbid a need are commented out.

    Raises InvalidRequest for a path that a unit cannot contain.
    """
    left_out = {
        "PrivateTmp": needs.temporary,
        "PrivateDevices": needs.gpu,
        "MemoryDenyWriteExecute": needs.javascript or needs.gpu,
        "IPAddressDeny": needs.network,
        "IPAddressAllow": needs.network,
    }
    lines = []
    for line in template.splitlines():
        reason = left_out.get(line.partition("=")[0], "")
        if line == WRITABLE:
            paths = [path for path in needs.writable if not set(needs.writable).intersection(path.parents)]
            # without PrivateTmp the shared /tmp would be read-only
            paths += TEMPORARY if needs.temporary else ()
            # with a dash, a missing folder is not an error
            lines += [f"ReadWritePaths={quoted(f'-{path}')}" for path in paths]
        else:
            lines.append(f"# left out, for {reason}: {line}" if reason else line)
    return "\n".join(lines) + "\n"


def program_word(path: str) -> str:
    """Return the quoted program of `ExecStart=`; raises InvalidRequest for quotes and backslashes."""
    if re.search(r"[\"'\\]", unit_text(path)):
        raise InvalidRequest(
            f"systemd runs no program with a quote or a backslash in its path: {path!r}",
            hint="install memoryd in a folder with a plainer name",
        )
    return f'"{escape_percents(path)}"'


def full_value(path: str) -> str:
    """Return an escaped value that takes the rest of its line, such as that of `ListenStream=`.

    Raises InvalidRequest for a value that the syntax would change, with spaces at an end or a trailing backslash.
    """
    if path != path.strip() or path.endswith("\\"):
        raise InvalidRequest(f"a unit cannot name a path that ends so: {path!r}", hint="give it a plainer name")
    return escape_percents(unit_text(path))


def escape_percents(text: str) -> str:
    """Escape percent signs, which would start a specifier."""
    return text.replace("%", "%%")


def quoted(text: str) -> str:
    """Return one quoted entry of a list such as `Environment=`."""
    escaped = escape_percents(unit_text(text)).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
