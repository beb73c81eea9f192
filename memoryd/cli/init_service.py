"""Whether memoryd is to be started with the session, and having it so: `memoryctl service install`."""

import contextlib
import io
import json

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


def installed_service(context: click.Context, invocation: Invocation) -> object:
    """Install the service as its own command does, and return what that answers with `--json`; None on a terminal.

    A failure is told and not raised: the configuration is written, and memoryd can be started without.
    """
    root = context.find_root()
    group = root.command.get_command(root, "service") if isinstance(root.command, click.Group) else None
    install = group.get_command(root, "install") if isinstance(group, click.Group) else None
    if install is None:
        return {"error": {"message": "this version installs no service"}}
    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(told) if invocation.is_json else contextlib.nullcontext():
            context.invoke(install)
    except MemorydError as exc:
        return {"error": {"message": str(exc), "hint": exc.hint}}
    return json.loads(told.getvalue()) if invocation.is_json and told.getvalue() else None


def why_not(answer: object) -> str:
    """Return why the service was not installed; empty if it was."""
    error = answer.get("error") if isinstance(answer, dict) else None
    return " ".join(str(error[key]) for key in ("message", "hint") if error.get(key)) if isinstance(error, dict) else ""
