"""memoryctl init: write a first configuration, and show the commands that come next.

Works without a daemon. On a terminal it asks for choices without an option; elsewhere it takes the safe choice, or
fails and names the missing option. The file is checked as the daemon would check it, and has as few keys as possible,
so that the defaults of later versions apply.
"""

import contextlib
import io
import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from memoryd.cli.invocation import Invocation, argument, flag, with_invocation
from memoryd.cli.terminal import count, harmless, harmless_line, is_terminal, note
from memoryd.client import Client
from memoryd.config.agents import DEFAULT_AGENT
from memoryd.config.loading.load import Loaded, check_config, load_text
from memoryd.config.loading.raw import read
from memoryd.config.paths import config_file
from memoryd.domain.embedding import (
    BY_KEY,
    LOCAL,
    MULTILINGUAL_STARTER,
    NONE,
    REMOTE,
    FirstModel,
    ModelsHere,
    is_file_spec,
    local_model,
    named_model,
    proposed_model,
)
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.hooks.hosts import HOSTS, is_installed
from memoryd.service.managers import manager_here
from memoryd.wire import Exit

if TYPE_CHECKING:
    from memoryd.cli.local.survey import NotesFolder

_PROBE_SECONDS = 2.0


class ModelChoice(click.Choice[str]):
    """A provider, or the spec of a local model."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return a provider or a spec, with an absolute path; raises BadParameter."""
        if not is_file_spec(value):
            return super().convert(value, param, ctx)
        # absolute, since a path in the configuration is relative to the configuration's folder
        return value if ":" in value else str(Path(value).expanduser().absolute())


HEAD = """\
// memoryd's configuration, made by `memoryctl init`. What holds: memoryctl config show --all
// After a change: memoryctl config check, then memoryctl reload.
"""


class InitOptions(Struct, frozen=True):
    """The options of the command line; None: the option was not given."""

    folders: tuple[Path, ...] = ()
    takes_all: bool | None = None
    model: str | None = None
    is_asking: bool = False
    is_agreed: bool = False
    """`--yes`: take the proposed choices."""


class FirstPlan(Struct, frozen=True):
    """The planned configuration: its text, or a link to OpenClaw's file, and the choices behind it.

    `folders` are the folders of notes, each with whether all its Markdown files are notes; they may not exist yet.
    """

    path: Path
    loaded: Loaded
    text: str = ""
    linked: Path | None = None
    folders: tuple[tuple["NotesFolder", bool], ...] = ()
    model: FirstModel | None = None


@click.command("init")
@argument(
    "folder",
    metavar="[DIR]",
    required=False,
    type=click.Path(path_type=Path),
    help="The folder with your notes (else the folders of OpenClaw and Claude Code are searched for).",
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
    "--all/--no-all", "takes_all", default=None, help="All Markdown files, or only MEMORY.md, memory/ and bank/."
)
@click.option(
    "--model",
    type=ModelChoice((LOCAL, NONE, *REMOTE)),
    help="The embedding provider; notes are sent to all but local, none and ollama. Or a local model, such as "
    f"{MULTILINGUAL_STARTER}.",
)
@click.option("--service/--no-service", "has_service", default=None, help="Start memoryd with your session.")
@flag("--yes", "-y", "is_agreed", help="Ask nothing: take the proposed choices.")
@flag("--force", help="Replace a configuration; a copy is kept beside it.")
@flag("--dry-run", "is_dry", help="Show what would be written, and write nothing.")
@with_invocation
def init_command(
    invocation: Invocation,
    folder: Path | None,
    workspaces: tuple[Path, ...],
    takes_all: bool | None,
    model: str | None,
    has_service: bool | None,
    is_agreed: bool,
    force: bool,
    is_dry: bool,
) -> Exit:
    """Write a first configuration, and say what comes next.

    On a terminal it asks for choices without an option; elsewhere, with --yes or with --json, it never asks. An
    existing configuration is shown, and not changed. A provider that notes are sent to is only used if you name it.
    """
    is_asking = is_terminal(sys.stdin) and not is_agreed and not invocation.is_json
    folders = (*(() if folder is None else (folder,)), *workspaces)
    options = InitOptions(folders, takes_all, model, is_asking, is_agreed)
    path = config_file()
    if (path.is_symlink() or path.exists()) and not force:
        return _report_existing(invocation, path, options)
    plan = planned(options, path)
    if not is_dry and is_asking:
        click.echo(harmless(plan.text or f"a link to {plan.linked}\n"), nl=False, err=True)
        click.confirm(f"Write this to {harmless_line(str(path))}?", default=True, abort=True, err=True)
    manager = manager_here().name if has_service is None and is_asking else "none"
    if manager != "none":
        has_service = click.confirm(f"Have {manager} start memoryd with your session?", default=True, err=True)
    backup = None if is_dry else carry_out(plan, datetime.now().astimezone())
    service = install_service(invocation) if has_service and not is_dry else None
    return _report_written(invocation, plan, backup, is_dry=is_dry, service=service)


def _report_existing(invocation: Invocation, path: Path, options: InitOptions) -> Exit:
    """Show the existing configuration; raises InvalidRequest if the options would give another one."""
    result = check_config()
    has_options = bool(options.folders) or options.takes_all is not None or options.model is not None
    if has_options and not _is_unchanged(options, path):
        raise InvalidRequest(
            f"there is another configuration already: {path}; nothing was changed",
            hint="memoryctl config show says what holds; --force replaces it, and keeps a copy",
        )
    agents, lines = _agents(result.loaded)
    problems = [problem.message for problem in result.problems]
    reply = {"path": str(path), "written": False, "problems": problems, "agents": agents}
    notes = ["nothing was changed; --force replaces it, and keeps a copy"]
    if problems:
        notes.append(f"memoryd would refuse it, for {count(len(problems), 'problem')}: memoryctl config check")
    lines = [f"there is a configuration: {harmless_line(str(path))}", *lines]
    return invocation.show(reply, lines, notes, code=Exit.DONE if result.loaded else Exit.ERROR)


def _report_written(
    invocation: Invocation, plan: FirstPlan, backup: Path | None, *, is_dry: bool, service: tuple[object, str] | None
) -> Exit:
    """Report what was done, and what comes next; `service` is the result of `install_service`, None without it."""
    installed, why_not = service or (None, "")
    (agents, lines), model = _agents(plan.loaded), plan.model
    provider = plan.loaded.config.resolved_agents()[0].memory_search.provider
    steps = next_steps(is_started=service is not None and not why_not)
    notes = [*notices_of(plan), *plan.loaded.notices]
    if why_not:
        notes.append(f"no service was installed: {why_not}")
    reply = {
        "path": str(plan.path),
        "written": not is_dry,
        "kept": str(backup) if backup else None,
        "text": plan.text or None,
        "link": str(plan.linked) if plan.linked else None,
        "agents": agents,
        "provider": provider,
        "reason": model.reason if model else "",
        "service": installed,
        "notices": notes,
        "next": [step for step, _ in steps],
    }
    lines = [f"{'would be written' if is_dry else 'written'}: {harmless_line(str(plan.path))}", *lines]
    if is_dry:
        lines += [f"  {line}" for line in harmless(plan.text or f"a link to {plan.linked}").splitlines()]
    lines.append(f"vectors: {provider}{f', {model.reason}' if model and model.reason else ''}")
    width = max(len(step) for step, _ in steps)
    lines += ["next:", *(f"  {step:<{width}}  {what}" for step, what in steps)]
    notes = [f"what was there before is kept: {backup}", *notes] if backup else notes
    return invocation.show(reply, lines, notes, code=Exit.ERROR if why_not else Exit.DONE)


def _agents(loaded: Loaded | None) -> tuple[list[dict[str, object]], list[str]]:
    """Return the agents as JSON rows and as lines, each with the number of its files."""
    # here: it imports modules that no other command needs
    from memoryd.cli.local.survey import files_of

    rows: list[dict[str, object]] = []
    lines = []
    for agent in loaded.config.resolved_agents() if loaded else ():
        files = files_of(agent)
        rows.append({"id": agent.id, "workspace": str(agent.workspace), "files": files})
        lines.append(f"agent {agent.id}: {count(files, 'Markdown file')} in {harmless_line(str(agent.workspace))}")
    return rows, lines


def next_steps(*, is_started: bool) -> list[tuple[str, str]]:
    """Return commands, each with its purpose; `is_started`: the daemon was just started with the new file."""
    steps = []
    if not is_started:
        try:
            with Client(timeout=_PROBE_SECONDS) as client:
                client.health()
            steps.append(("memoryctl reload", "memoryd runs: have it take the new file"))
        except MemorydError:
            what = "start it here, or have it started with your session: memoryctl service install"
            steps.append(("memoryd", what))
    steps.append(('memoryctl search "…"', "ask; memoryctl status says what is indexed"))
    for host in HOSTS.values():
        if is_installed(host):
            steps.append((f"memoryctl hooks install {host.name}", f"have {host.title} remember"))
    steps.append(("memoryctl mcp --help", "for any client of the Model Context Protocol"))
    return [*steps, ("memoryctl doctor", "if something seems wrong")]


def install_service(invocation: Invocation) -> tuple[object, str]:
    """Install the service as its own command does; return its JSON reply (with --json), and an error message.

    A failure is returned, not raised: the configuration is written, and memoryd can be started without a service.
    """
    # here: it imports the service modules, which an init without a service does not need
    from memoryd.cli.local.service import install

    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output) if invocation.is_json else contextlib.nullcontext():
            click.get_current_context().invoke(install)
    except MemorydError as exc:
        return None, f"{exc}{f'; {exc.hint}' if exc.hint else ''}"
    return json.loads(output.getvalue() or "null"), ""


def planned(options: InitOptions, path: Path) -> FirstPlan:
    """Make all choices, and check the resulting configuration; asks only at a terminal.

    Raises ConfigError, InvalidRequest, ModelError, UsageError.
    """
    # here: it imports modules that no other command needs
    from memoryd.cli.local import survey

    if options.is_asking and not options.folders and not options.model:
        openclaws = survey.openclaw_file()
        if openclaws is not None and _is_openclaw_chosen(openclaws, survey.hosts()):
            return FirstPlan(path, load_text(read(openclaws), path), linked=openclaws)
    folders = list(map(survey.folder_at, options.folders)) or _pick_folders(survey.find_folders(), options)
    distinct = {folder.path.resolve(): folder for folder in folders}.values()
    for folder in distinct:
        _require(folder, options)
    chosen = tuple((folder, _takes_all(folder, options)) for folder in distinct)
    paths = [(folder.path, takes_all) for folder, takes_all in chosen]
    models = survey.models_here(paths, is_local=options.model in (None, LOCAL))
    if options.model is not None:
        if is_file_spec(options.model):
            survey.require_source(options.model)
        model = named_model(options.model, models)
    else:
        model = _choose_model(models, survey.hosts()) if options.is_asking else proposed_model(models)
    text = file_text(paths, model, Path.home())
    return FirstPlan(path, load_text(text, path), text, folders=chosen, model=model)


def _is_openclaw_chosen(path: Path, hosts: Mapping[str, str]) -> bool:
    check = check_config(path)
    if check.loaded is None:
        why = f"{count(len(check.problems), 'problem')}: memoryctl config check {shlex.quote(str(path))}"
        note(f"OpenClaw's configuration cannot be used as it is, for {why}")
        return False
    resolved = check.loaded.config.resolved_agents()
    providers = sorted({agent.memory_search.provider for agent in resolved})
    agents = ", ".join(f"agent {agent.id} on {agent.workspace}" for agent in resolved)
    question = f"OpenClaw's configuration {path} fits ({agents}; vectors by {', '.join(providers)})"
    sent = ", ".join(hosts[name] for name in providers if name in BY_KEY)
    warning = f" The text of your notes will leave this machine, for {sent}." if sent else ""
    return _confirm(f"{question}: use it for memoryd, by a link?{warning}", default=not sent)


def _pick_folders(candidates: Sequence["NotesFolder"], options: InitOptions) -> Sequence["NotesFolder"]:
    """Return the folders that a person chooses or names; without a terminal, the only or OpenClaw's candidate."""
    # here, as above
    from memoryd.cli.local.survey import folder_at

    if not options.is_asking:
        if len(candidates) == 1 or (candidates and candidates[0].kind == "openclaw"):
            return candidates[:1]
        which = "; ".join(str(folder.path) for folder in candidates)
        reason = f"several folders with notes were found ({which})" if candidates else "no folder with notes was found"
        raise click.UsageError(f"{reason}: name yours, memoryctl init DIR")
    for number, folder in enumerate(candidates, 1):
        click.echo(f"  {number}  {harmless_line(folder.description)}", err=True)
    question = "Which folders (numbers such as 1,2, or a path)" if candidates else "The folder with your notes"
    answer = click.prompt(question, default="1" if candidates else "~/notes", err=True)
    numbers = [part.strip() for part in answer.split(",")]
    if all(part.isdecimal() and 1 <= int(part) <= len(candidates) for part in numbers):
        return [candidates[int(part) - 1] for part in numbers]
    return [folder_at(Path(answer))]


def _require(folder: "NotesFolder", options: InitOptions) -> None:
    """Ask whether to create a missing folder; raises UsageError without a terminal and --yes, and Abort for no."""
    if folder.is_there or options.is_agreed:
        return
    if not options.is_asking:
        raise click.UsageError(f"there is no folder {folder.path}: make it, or add --yes")
    if not _confirm(f"There is no folder {folder.path}: make it?", default=True):
        raise click.Abort


def _takes_all(folder: "NotesFolder", options: InitOptions) -> bool:
    """Return whether all Markdown files of a folder are notes, as proposed for a folder without a known layout."""
    is_proposed = not folder.files
    if options.takes_all is not None:
        return options.takes_all
    if not folder.outside or folder.kind == "claude":
        return is_proposed or bool(folder.outside)
    if options.is_asking:
        return _confirm(folder.question, default=is_proposed)
    if folder.files or options.is_agreed:
        return is_proposed
    raise click.UsageError(f"{folder.question} Say --all, or --no-all for MEMORY.md, memory/ and bank/ alone.")


def _choose_model(models: ModelsHere, hosts: Mapping[str, str]) -> FirstModel:
    choices = {LOCAL: local_model(models).reason, NONE: "search by words only"}
    choices |= {name: f"${key} is set; your notes would be sent to {hosts[name]}" for name, key in models.keys.items()}
    click.echo("Search by meaning needs a model that makes vectors:", err=True)
    for name, what in choices.items():
        click.echo(f"  {name:<8} {what}", err=True)
    proposed = proposed_model(models).provider
    name = click.prompt("Which", type=click.Choice(list(choices)), default=proposed, show_choices=False, err=True)
    model = named_model(name, models)
    sends = f"The text of your notes will leave this machine, for {hosts.get(name)}. Is that meant?"
    return model if not model.leaves_machine or _confirm(sends, default=False) else _choose_model(models, hosts)


def _confirm(question: str, *, default: bool) -> bool:
    return click.confirm(harmless_line(question), default=default, err=True)


def notices_of(plan: FirstPlan) -> list[str]:
    """Return notes about the choices."""
    remarks = [
        f"{folder.path}: {count(folder.outside, 'Markdown file')} outside of MEMORY.md, memory/ and bank/ left out; "
        "--all takes them in"
        for folder, takes_all in plan.folders
        if folder.outside and not takes_all
    ]
    if plan.model is not None and plan.model.leaves_machine:
        remarks.append(
            f"a service does not see the variables of your shell: put the key of {plan.model.provider} into a file "
            'of mode 600, and name it: memorySearch.remote.apiKey: {file: "/absolute/path"}'
        )
    return remarks


def _is_unchanged(options: InitOptions, path: Path) -> bool:
    """Return whether the options give exactly the file at the path, without asking."""
    text = planned(replace(options, is_asking=False, is_agreed=True), path).text
    try:
        return path.read_bytes() == text.encode()
    except OSError:
        return False


def carry_out(plan: FirstPlan, now: datetime) -> Path | None:
    """Write the configuration atomically; return the backup of the file before, if any. Raises NotNow, MemorydError."""
    # here: only this function writes files
    from memoryd.cli.written_file import link, make_folder, replace_with_backup, rewrite

    for folder, _ in plan.folders:
        if not folder.is_there:
            make_folder(folder.path)
    is_new = not (plan.path.is_symlink() or plan.path.exists())
    if plan.linked is not None:
        return link(plan.path, plan.linked, None if is_new else now)
    if is_new:
        rewrite(plan.path, plan.text, expected="absent")
        return None
    return replace_with_backup(plan.path, plan.text, now)


def file_text(folders: Sequence[tuple[Path, bool]], model: FirstModel, home: Path) -> str:
    """Return the JSON5 text; folders below the home folder are written with `~`.

    Each folder becomes the workspace of an agent; with True all its Markdown files are indexed. The first agent is the
    default agent, and the others are named after their folders.
    """
    lines = ["{", "  agents: {", "    defaults: {"]
    search = []
    if len(folders) == 1:
        folder, takes_all = folders[0]
        lines.append(f"      workspace: {_path(folder, home)},")
        search = ['extraPaths: ["."], // every Markdown file of the folder'] * takes_all
    purpose = {LOCAL: "a model on this machine", NONE: "search by words only"}
    sent = "the text of your notes is sent there"
    search.append(f'provider: "{model.provider}", // {purpose.get(model.provider, sent)}')
    if model.spec:
        search.append(f"local: {{ modelPath: {_quoted(model.spec)} }},")
    lines += ["      memorySearch: {", *(f"        {line}" for line in search), "      },", "    },"]
    if len(folders) > 1:
        lines += ["    list: [", *_entries(folders, home), "    ],"]
    return HEAD + "\n".join([*lines, "  },", "}"]) + "\n"


def _entries(folders: Sequence[tuple[Path, bool]], home: Path) -> Iterator[str]:
    taken = set[str]()
    for folder, takes_all in folders:
        base = _id_of(folder, home) if taken else DEFAULT_AGENT
        candidates = (base, *(f"{base}-{number}" for number in range(2, 10_000)))
        name = next(candidate for candidate in candidates if candidate not in taken)
        taken.add(name)
        search = ', memorySearch: { extraPaths: ["."] }' if takes_all else ""
        yield f'      {{ id: "{name}", workspace: {_path(folder, home)}{search} }},'


def _path(folder: Path, home: Path) -> str:
    return _quoted(f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) and folder != home else str(folder))


def _quoted(text: str) -> str:
    """Return a text as JSON; surrogates, from a path that is not UTF-8, are escaped."""
    return json.dumps(text, ensure_ascii=any("\ud800" <= sign <= "\udfff" for sign in text))


def _id_of(folder: Path, home: Path) -> str:
    """Return an agent id for a folder; `memory` folders, as of Claude Code, are named after their parent."""
    named = folder.parent if folder.name == "memory" else folder
    # Claude Code names the folder of a project after the path of the project
    plain = named.name.removeprefix(str(home).replace("/", "-"))
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[-40:].strip("-") or "notes"
