"""Whether memoryd is to be started with the session, and having it so: `memoryctl service install`."""

import contextlib
import io
import json
from dataclasses import dataclass
from importlib import import_module
from typing import Final

import click

from memoryd.cli.invocation import Invocation
from memoryd.errors import MemorydError
from memoryd.service.managers import manager_here


def is_service_wanted(said: bool | None, *, is_asking: bool) -> bool:
    """Tell whether it was said, or is agreed to; nobody is asked where there is no service manager."""
    if said is not None or not is_asking:
        return bool(said)
    name = manager_here().name
    return name != "none" and click.confirm(f"Have {name} start memoryd with your session?", default=True, err=True)


@dataclass(frozen=True, slots=True)
class ServiceOutcome:
    """What came of it: what `memoryctl service install --json` answers, or why there is none."""

    reply: object = None
    why_not: str = ""
    is_done: bool = False


NO_SERVICE: Final = ServiceOutcome()
"""Nobody wanted one."""


def installed_service(context: click.Context, invocation: Invocation) -> ServiceOutcome:
    """Install the service as its own command does, which tells what it does unless it is told as JSON here.

    A failure is told and not raised: the configuration is written, and memoryd can be started without.
    """
    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(told) if invocation.is_json else contextlib.nullcontext():
            context.invoke(import_module("memoryd.cli.service").install)
    except MemorydError as exc:
        return ServiceOutcome(why_not=f"{exc}{f'; {exc.hint}' if exc.hint else ''}")
    return ServiceOutcome(json.loads(told.getvalue() or "null"), is_done=True)
