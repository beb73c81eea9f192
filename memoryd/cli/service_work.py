"""One invocation of memoryctl service: how the service stood before, and the steps that are done or shown."""

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import click

from memoryd.cli.invocation import Invocation
from memoryd.cli.service_lines import step_lines, step_row
from memoryd.config.loading.load import load
from memoryd.errors import AlreadyRunning, DaemonNotRunning, MemorydError
from memoryd.service.installing import Installation, installation_of
from memoryd.service.launchd import LaunchdManager
from memoryd.service.managers import NoManager, ServiceManager, manager_here
from memoryd.service.steps import ServiceState, ServiceStep, WriteWhole, carry_out
from memoryd.service.systemd import SystemdManager, why_no_namespaces
from memoryd.wire import Exit


@dataclass(frozen=True, slots=True)
class ServiceWork:
    """One invocation over one manager, and how the service stood before it."""

    invocation: Invocation
    manager: ServiceManager
    state: ServiceState
    is_dry: bool
    write: WriteWhole
    """Puts a file in its place whole."""
    why_no_manager: str = ""

    @classmethod
    def here(cls, invocation: Invocation, *, is_dry: bool, write: WriteWhole) -> "ServiceWork":
        """Look at the manager; where there is none, a dry run shows what systemd, or launchd, would be given."""
        manager = manager_here()
        reason = manager.why if isinstance(manager, NoManager) else ""
        if reason and is_dry:
            manager = LaunchdManager(os.environ) if sys.platform == "darwin" else SystemdManager(os.environ)
        return cls(invocation, manager, manager.state(), is_dry, write, reason)

    def installed(self) -> "ServiceWork":
        """Return the same; raises MemorydError if there is nothing to start or to stop."""
        if not self.state.is_installed and self.state.manager != "none":
            raise MemorydError("memoryd is not installed as a service", hint="memoryctl service install")
        return self

    def installation(self, hardened: bool | None) -> Installation:
        """Return what this configuration wants; raises ConfigError: a service that cannot start is not installed."""
        loaded = load()
        is_hardened = is_hardened_now(self.state) if hardened is None else hardened
        return installation_of(loaded.config, loaded.source, os.environ, is_hardened=is_hardened)

    def do(
        self,
        steps: list[ServiceStep],
        *,
        nothing: str,
        notes: Iterable[str] = (),
        left: Iterable[str] = (),
        starts: bool = False,
    ) -> Exit:
        """Do or show the steps, and say what came of it."""
        told = [*notes]
        if self.why_no_manager:
            known = "this is what one would be told" if self.is_dry else "nobody could be told of it"
            told.append(f"there is no service manager here: {self.why_no_manager}; {known}")
        if steps and not self.is_dry:
            if starts:
                self._refuse_second()
            told += carry_out(steps, write=self.write, environment=os.environ, tell=self._tell)
        lines = [] if not self.is_dry else [line for step in steps for line in step_lines(step)]
        if self.is_dry and steps:
            lines.append("nothing was done: this is a dry run")
        reply = {"manager": self.manager.name, "isDone": not self.is_dry, "steps": [step_row(step) for step in steps]}
        after = [] if self.is_dry or not steps else [*left]
        self.invocation.show({**reply, "notes": told}, [*lines, *([] if steps else [nothing]), *after], told)
        return Exit.DONE

    def _tell(self, step: ServiceStep) -> None:
        if not self.invocation.is_json:
            click.echo(f"{step.kind:<7} {step.what}  ({step.why})")

    def _refuse_second(self) -> None:
        """Raise AlreadyRunning if a memoryd answers that the manager does not run: two would fight for the socket."""
        if self.state.is_running:
            return
        try:
            with self.invocation.client(timeout=5) as client:
                pid = client.status()["pid"]
        except (DaemonNotRunning, MemorydError):
            return
        if self.manager.state().pid != pid:
            raise AlreadyRunning(
                f"a memoryd runs already, process {pid}, and not as this service", hint=f"stop it first: kill {pid}"
            )


def hardening_notes(wanted: Installation, work: ServiceWork) -> Iterator[str]:
    """Yield why a drop-in does nothing; raises MemorydError for one by which the service could not start."""
    if not wanted.is_hardened:
        return
    if work.manager.name == "launchd":
        yield "--hardened is systemd's; launchd has nothing like it"
    elif reason := why_no_namespaces():
        if not work.is_dry:
            raise MemorydError(reason, hint="memoryctl service install --no-hardened")
        yield reason


def is_hardened_now(state: ServiceState) -> bool:
    """Tell whether the drop-in of ours is there."""
    return any(path.name == "hardening.conf" and path not in state.foreign for path in state.files)
