"""memoryctl init: from nothing to a configuration that memoryd starts with, and the commands that come next.

Works without a daemon.
"""

import contextlib
import io
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypedDict

import click

from memoryd.cli.invocation import Invocation, argument, flag, verb
from memoryd.cli.local.init_choices import (
    FirstPlan,
    InitOptions,
    carry_out,
    is_what_is_there,
    notices_of,
    planned,
)
from memoryd.cli.terminal import count, harmless, harmless_line, is_terminal
from memoryd.client import Client
from memoryd.config.loading.load import Loaded, checked
from memoryd.config.paths import config_file
from memoryd.domain.embedding import LOCAL, MULTILINGUAL_STARTER, NONE, REMOTE, is_file_spec
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.hooks.hosts import HOSTS, is_here
from memoryd.service.managers import manager_here
from memoryd.wire import Exit

_PROBE_SECONDS = 2.0
MODELS = (LOCAL, NONE, *REMOTE)


class ModelChoice(click.Choice[str]):
    """A provider, or a local model by its spec."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return a provider or a spec, a path in full; raises BadParameter."""
        if not is_file_spec(value):
            return super().convert(value, param, ctx)
        # in the configuration a path counts from the configuration's folder
        return value if ":" in value else str(Path(value).expanduser().absolute())


class AgentSummary(TypedDict):
    """An agent of the reply; `files` are those that its memory is made of now."""

    id: str
    workspace: str
    files: int


@click.command("init")
@argument(
    "folder",
    metavar="[DIR]",
    required=False,
    type=click.Path(path_type=Path),
    help="The folder with your notes (else those of OpenClaw and Claude Code are looked for).",
)
@click.option(
    "--workspace",
    "workspaces",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The same; several times for several agents, a folder each.",
)
@click.option(
    "--all/--no-all", "is_whole", default=None, help="Every Markdown file of the folder, or MEMORY.md, memory/ … alone."
)
@click.option(
    "--model",
    type=ModelChoice(MODELS),
    help="Who makes vectors; to all but local, none and ollama notes are sent. Or a local model, such as "
    f"{MULTILINGUAL_STARTER}.",
)
@click.option("--service/--no-service", "has_service", default=None, help="Have memoryd started with your session.")
@flag("--yes", "-y", "is_agreed", help="Ask nothing: what is proposed is meant.")
@flag("--force", help="Replace a configuration; a copy is kept beside it.")
@flag("--dry-run", "is_dry", help="Show what would be written, and write nothing.")
@verb
def init_command(
    invocation: Invocation,
    folder: Path | None,
    workspaces: tuple[Path, ...],
    is_whole: bool | None,
    model: str | None,
    has_service: bool | None,
    is_agreed: bool,
    force: bool,
    is_dry: bool,
) -> Exit:
    """Write a first configuration, and say what comes next.

    On a terminal it asks for what no option says; elsewhere, with --yes or with --json, it never does. What is there
    already is shown, and stays as it is. Nobody that notes would be sent to is chosen without being named.
    """
    is_asking = is_terminal(sys.stdin) and not is_agreed and not invocation.is_json
    folders = (*(() if folder is None else (folder,)), *workspaces)
    options = InitOptions(folders, is_whole, model, is_asking, is_agreed)
    path = config_file()
    if (path.is_symlink() or path.exists()) and not force:
        return _report_existing(invocation, path, options)
    plan = planned(options, path)
    if not is_dry and is_asking:
        click.echo(harmless(plan.text or f"a link to {plan.linked}\n"), nl=False, err=True)
        click.confirm(f"Write this to {harmless_line(str(path))}?", default=True, abort=True, err=True)
    wants_service = is_service_wanted(has_service, is_asking=is_asking) and not is_dry
    kept = None if is_dry else carry_out(plan, datetime.now().astimezone())
    service = install_service(click.get_current_context(), invocation) if wants_service else None
    return _report_written(invocation, plan, kept, is_dry=is_dry, service=service)


def _report_existing(invocation: Invocation, path: Path, options: InitOptions) -> Exit:
    """Show the configuration that is there; raises InvalidRequest if the options want another."""
    found = checked()
    if options.says_something and not is_what_is_there(options, path):
        raise InvalidRequest(
            f"there is another configuration already: {path}; nothing was changed",
            hint="memoryctl config show says what holds; --force replaces it, and keeps a copy",
        )
    agents = _agents_json(found.loaded) if found.loaded else []
    reply = {"path": str(path), "written": False, "problems": [one.message for one in found.problems], "agents": agents}
    notes = ["nothing was changed; --force replaces it, and keeps a copy"]
    if found.problems:
        notes.append(f"memoryd would refuse it, for {count(len(found.problems), 'problem')}: memoryctl config check")
    lines = (f"there is a configuration: {harmless_line(str(path))}", *_agent_lines(agents))
    return invocation.show(reply, lines, notes, code=Exit.DONE if found.loaded else Exit.ERROR)


def _report_written(
    invocation: Invocation, plan: FirstPlan, kept: Path | None, *, is_dry: bool, service: tuple[object, str] | None
) -> Exit:
    """Say what was done, and what comes next; `service` is what `install_service` returned, None if there is none."""
    installed, why_not = service or (None, "")
    agents, model = _agents_json(plan.loaded), plan.model
    provider = plan.loaded.config.resolved_agents()[0].memory_search.provider
    steps = next_steps(is_started=service is not None and not why_not)
    notes = [*notices_of(plan), *plan.loaded.notices]
    if why_not:
        notes.append(f"no service was installed: {why_not}")
    reply = {
        "path": str(plan.path),
        "written": not is_dry,
        "kept": str(kept) if kept else None,
        "text": plan.text or None,
        "link": str(plan.linked) if plan.linked else None,
        "agents": agents,
        "provider": provider,
        "reason": model.reason if model else "",
        "service": installed,
        "notices": notes,
        "next": [step for step, _ in steps],
    }
    done = f"{'would be written' if is_dry else 'written'}: {harmless_line(str(plan.path))}"
    lines = [done, *_agent_lines(agents)]
    if is_dry:
        lines += [f"  {line}" for line in harmless(plan.text or f"a link to {plan.linked}").splitlines()]
    lines.append(f"vectors: {provider}{f', {model.reason}' if model and model.reason else ''}")
    width = max(len(step) for step, _ in steps)
    lines += ["next:", *(f"  {step:<{width}}  {what}" for step, what in steps)]
    notes = [f"what was there before is kept: {kept}", *notes] if kept else notes
    return invocation.show(reply, lines, notes, code=Exit.ERROR if why_not else Exit.DONE)


def _agents_json(loaded: Loaded) -> list[AgentSummary]:
    # here: it reaches rooms that no other command needs
    from memoryd.cli.local.init_survey import files_of

    agents = loaded.config.resolved_agents()
    return [AgentSummary(id=one.id, workspace=str(one.workspace), files=files_of(one)) for one in agents]


def _agent_lines(agents: Sequence[AgentSummary]) -> Iterator[str]:
    for one in agents:
        files = count(one["files"], "Markdown file")
        yield f"agent {one['id']}: {files} in {harmless_line(one['workspace'])}"


def next_steps(*, is_started: bool) -> list[tuple[str, str]]:
    """Return commands, each with what it does; `is_started`: with the new file, just now."""
    steps = [] if is_started else [_start()]
    steps.append(('memoryctl search "…"', "ask; memoryctl status says what is indexed"))
    for host in HOSTS.values():
        if is_here(host):
            steps.append((f"memoryctl hooks install {host.name}", f"have {host.title} remember"))
    steps.append(("memoryctl mcp --help", "for any client of the Model Context Protocol"))
    return [*steps, ("memoryctl doctor", "if something seems wrong")]


def _start() -> tuple[str, str]:
    try:
        with Client(timeout=_PROBE_SECONDS) as client:
            client.health()
    except MemorydError:
        return "memoryd", "start it here, or have it started with your session: memoryctl service install"
    return "memoryctl reload", "memoryd runs: have it take the new file"


def is_service_wanted(said: bool | None, *, is_asking: bool) -> bool:
    """Tell whether an option or an answer wants the service; without a service manager the question is not asked."""
    if said is not None or not is_asking:
        return bool(said)
    name = manager_here().name
    return name != "none" and click.confirm(f"Have {name} start memoryd with your session?", default=True, err=True)


def install_service(context: click.Context, invocation: Invocation) -> tuple[object, str]:
    """Install the service as its own command does; return what `memoryctl service install --json` answers.

    A failure is returned and not raised: the configuration is written, and memoryd can be started without.
    """
    # here: it reads the room of systemd and launchd, which an init without a service does not need
    from memoryd.cli.local.service import install

    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output) if invocation.is_json else contextlib.nullcontext():
            context.invoke(install)
    except MemorydError as exc:
        return None, f"{exc}{f'; {exc.hint}' if exc.hint else ''}"
    return json.loads(output.getvalue() or "null"), ""
