"""memoryctl init: from nothing to a configuration that memoryd starts with, and the commands that come next.

Works without a daemon. What an option says is not asked for; where nobody can be asked, the safe choice is taken, or
the option is named. The file is checked as a start would check it, and says as little as it can, so that the defaults
of later versions hold.
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

from memoryd.cli.invocation import Invocation, argument, flag, verb
from memoryd.cli.terminal import count, harmless, harmless_line, is_terminal, note
from memoryd.client import Client
from memoryd.config.agents import DEFAULT_AGENT
from memoryd.config.loading.load import Loaded, checked, loaded_of
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
from memoryd.hooks.hosts import HOSTS, is_here
from memoryd.service.managers import manager_here
from memoryd.wire import Exit

if TYPE_CHECKING:
    from memoryd.cli.local.survey import NotesFolder

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


HEAD = """\
// memoryd's configuration, made by `memoryctl init`. What holds: memoryctl config show --all
// After a change: memoryctl config check, then memoryctl reload.
"""
ID_LENGTH = 40
WHOLE = 'extraPaths: ["."], // every Markdown file of the folder'


class InitOptions(Struct, frozen=True):
    """What was said on the command line; None: nothing was said about it."""

    folders: tuple[Path, ...] = ()
    is_whole: bool | None = None
    model: str | None = None
    is_asking: bool = False
    is_agreed: bool = False
    """`--yes`: take what is proposed."""


class FirstPlan(Struct, frozen=True):
    """A file of this text at `path`, or a link to OpenClaw's, and what it was made of.

    `folders` are those of notes, each with whether all of it is meant; some may have to be made.
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
    manager = manager_here().name if has_service is None and is_asking else "none"
    if manager != "none":
        has_service = click.confirm(f"Have {manager} start memoryd with your session?", default=True, err=True)
    kept = None if is_dry else carry_out(plan, datetime.now().astimezone())
    service = install_service(invocation) if has_service and not is_dry else None
    return _report_written(invocation, plan, kept, is_dry=is_dry, service=service)


def _report_existing(invocation: Invocation, path: Path, options: InitOptions) -> Exit:
    """Show the configuration that is there; raises InvalidRequest if the options want another."""
    found = checked()
    says_something = bool(options.folders) or options.is_whole is not None or options.model is not None
    if says_something and not _is_what_is_there(options, path):
        raise InvalidRequest(
            f"there is another configuration already: {path}; nothing was changed",
            hint="memoryctl config show says what holds; --force replaces it, and keeps a copy",
        )
    agents, lines = _agents(found.loaded)
    reply = {"path": str(path), "written": False, "problems": [one.message for one in found.problems], "agents": agents}
    notes = ["nothing was changed; --force replaces it, and keeps a copy"]
    if found.problems:
        notes.append(f"memoryd would refuse it, for {count(len(found.problems), 'problem')}: memoryctl config check")
    lines = [f"there is a configuration: {harmless_line(str(path))}", *lines]
    return invocation.show(reply, lines, notes, code=Exit.DONE if found.loaded else Exit.ERROR)


def _report_written(
    invocation: Invocation, plan: FirstPlan, kept: Path | None, *, is_dry: bool, service: tuple[object, str] | None
) -> Exit:
    """Say what was done, and what comes next; `service` is what `install_service` returned, None if there is none."""
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
    lines = [f"{'would be written' if is_dry else 'written'}: {harmless_line(str(plan.path))}", *lines]
    if is_dry:
        lines += [f"  {line}" for line in harmless(plan.text or f"a link to {plan.linked}").splitlines()]
    lines.append(f"vectors: {provider}{f', {model.reason}' if model and model.reason else ''}")
    width = max(len(step) for step, _ in steps)
    lines += ["next:", *(f"  {step:<{width}}  {what}" for step, what in steps)]
    notes = [f"what was there before is kept: {kept}", *notes] if kept else notes
    return invocation.show(reply, lines, notes, code=Exit.ERROR if why_not else Exit.DONE)


def _agents(loaded: Loaded | None) -> tuple[list[dict[str, object]], list[str]]:
    """Return the agents for a program and for a person, with how many files their memory is made of now."""
    # here: it reaches rooms that no other command needs
    from memoryd.cli.local.survey import files_of

    found = [(one, files_of(one)) for one in (loaded.config.resolved_agents() if loaded else ())]
    rows = [{"id": one.id, "workspace": str(one.workspace), "files": files} for one, files in found]
    told = ((one.id, count(files, "Markdown file"), harmless_line(str(one.workspace))) for one, files in found)
    return rows, [f"agent {name}: {files} in {folder}" for name, files, folder in told]


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


def install_service(invocation: Invocation) -> tuple[object, str]:
    """Install the service as its own command does; return what `memoryctl service install --json` answers.

    A failure is returned and not raised: the configuration is written, and memoryd can be started without.
    """
    # here: it reads the room of systemd and launchd, which an init without a service does not need
    from memoryd.cli.local.service import install

    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output) if invocation.is_json else contextlib.nullcontext():
            click.get_current_context().invoke(install)
    except MemorydError as exc:
        return None, f"{exc}{f'; {exc.hint}' if exc.hint else ''}"
    return json.loads(output.getvalue() or "null"), ""


def planned(options: InitOptions, path: Path) -> FirstPlan:
    """Decide all, and read it as memoryd will; asks only at a terminal.

    Raises ConfigError, InvalidRequest, ModelError, UsageError.
    """
    # here: it reaches rooms that no other command needs
    from memoryd.cli.local import survey as here

    if options.is_asking and not options.folders and not options.model:
        openclaws = here.openclaw_file()
        if openclaws is not None and _is_openclaw_meant(openclaws, here.hosts()):
            return FirstPlan(path, loaded_of(read(openclaws), path), linked=openclaws)
    folders = [here.folder_at(one) for one in options.folders] or _pick_folders(here.folders_found(), options)
    once = {folder.path.resolve(): folder for folder in folders}.values()
    for folder in once:
        _require(folder, options)
    chosen = tuple((one, _is_whole(one, options)) for one in once)
    models = here.models_here(
        [(folder.path, is_whole) for folder, is_whole in chosen], is_local=options.model in (None, LOCAL)
    )
    if options.model is not None:
        if is_file_spec(options.model):
            here.require_source(options.model)
        model = named_model(options.model, models)
    else:
        model = _choose_model(models, here.hosts()) if options.is_asking else proposed_model(models)
    text = file_text([(folder.path, is_whole) for folder, is_whole in chosen], model, Path.home())
    return FirstPlan(path, loaded_of(text, path), text, folders=chosen, model=model)


def _is_openclaw_meant(path: Path, hosts: Mapping[str, str]) -> bool:
    check = checked(path)
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


def _pick_folders(found: Sequence["NotesFolder"], options: InitOptions) -> Sequence["NotesFolder"]:
    """Return the folders that a person chooses or names; where no one can be asked, the only one that was found."""
    # here, as above
    from memoryd.cli.local.survey import folder_at

    if not options.is_asking:
        if len(found) == 1 or (found and found[0].kind == "openclaw"):
            return found[:1]
        which = "; ".join(str(one.path) for one in found)
        reason = f"several folders with notes were found ({which})" if found else "no folder with notes was found"
        raise click.UsageError(f"{reason}: name yours, memoryctl init DIR")
    for number, one in enumerate(found, 1):
        click.echo(f"  {number}  {harmless_line(one.told)}", err=True)
    question = "Which folders (numbers such as 1,2, or a path)" if found else "The folder with your notes"
    answer = click.prompt(question, default="1" if found else "~/notes", err=True)
    numbers = [part.strip() for part in answer.split(",")]
    if all(part.isdecimal() and 1 <= int(part) <= len(found) for part in numbers):
        return [found[int(part) - 1] for part in numbers]
    return [folder_at(Path(answer))]


def _require(folder: "NotesFolder", options: InitOptions) -> None:
    """See to it that a folder which is not there is meant to be made. Raises UsageError."""
    if folder.is_there or options.is_agreed:
        return
    if not options.is_asking:
        raise click.UsageError(f"there is no folder {folder.path}: make it, or add --yes")
    if not _confirm(f"There is no folder {folder.path}: make it?", default=True):
        raise click.Abort


def _is_whole(folder: "NotesFolder", options: InitOptions) -> bool:
    """Tell whether every Markdown file of a folder is meant: where no program has its layout, all are notes."""
    is_proposed = not folder.files
    if options.is_whole is not None:
        return options.is_whole
    if not folder.outside or folder.kind == "claude":
        return is_proposed or bool(folder.outside)
    if options.is_asking:
        return _confirm(folder.question, default=is_proposed)
    if folder.files or options.is_agreed:
        return is_proposed
    raise click.UsageError(f"{folder.question} Say --all, or --no-all for MEMORY.md, memory/ and bank/ alone.")


def _choose_model(found: ModelsHere, hosts: Mapping[str, str]) -> FirstModel:
    choices = {LOCAL: local_model(found).reason, NONE: "search by words only"}
    choices |= {name: f"${key} is set; your notes would be sent to {hosts[name]}" for name, key in found.keys.items()}
    click.echo("Search by meaning needs a model that makes vectors:", err=True)
    for name, what in choices.items():
        click.echo(f"  {name:<8} {what}", err=True)
    proposed = proposed_model(found).provider
    name = click.prompt("Which", type=click.Choice(list(choices)), default=proposed, show_choices=False, err=True)
    model = named_model(name, found)
    sends = f"The text of your notes will leave this machine, for {hosts.get(name)}. Is that meant?"
    return model if not model.leaves_machine or _confirm(sends, default=False) else _choose_model(found, hosts)


def _confirm(question: str, *, default: bool) -> bool:
    return click.confirm(harmless_line(question), default=default, err=True)


def notices_of(plan: FirstPlan) -> list[str]:
    """Return remarks about the choices."""
    remarks = [
        f"{one.path}: {count(one.outside, 'Markdown file')} outside of MEMORY.md, memory/ and bank/ left out; "
        "--all takes them in"
        for one, is_whole in plan.folders
        if one.outside and not is_whole
    ]
    if plan.model is not None and plan.model.leaves_machine:
        remarks.append(
            f"a service does not see the variables of your shell: put the key of {plan.model.provider} into a file "
            'of mode 600, and name it: memorySearch.remote.apiKey: {file: "/absolute/path"}'
        )
    return remarks


def _is_what_is_there(options: InitOptions, path: Path) -> bool:
    """Tell whether the options describe the file at the path, without a question."""
    text = planned(replace(options, is_asking=False, is_agreed=True), path).text
    try:
        return path.read_bytes() == text.encode()
    except OSError:
        return False


def carry_out(plan: FirstPlan, now: datetime) -> Path | None:
    """Write it, whole or not at all; return the copy of what was there before. Raises NotNow, MemorydError."""
    # here: nothing else of this module touches files
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

    Each folder has an agent; with True every Markdown file of it is indexed. The first agent is the default one, the
    others are named after their folders.
    """
    lines = ["{", "  agents: {", "    defaults: {"]
    search = []
    if len(folders) == 1:
        folder, is_whole = folders[0]
        lines.append(f"      workspace: {_path(folder, home)},")
        search = [WHOLE] * is_whole
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
    for folder, is_whole in folders:
        base = _id_of(folder, home) if taken else DEFAULT_AGENT
        names = (base, *(f"{base}-{number}" for number in range(2, 10_000)))
        name = next(one for one in names if one not in taken)
        taken.add(name)
        search = ', memorySearch: { extraPaths: ["."] }' if is_whole else ""
        yield f'      {{ id: "{name}", workspace: {_path(folder, home)}{search} }},'


def _path(folder: Path, home: Path) -> str:
    return _quoted(f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) and folder != home else str(folder))


def _quoted(text: str) -> str:
    """Write a text as JSON; a name in another encoding than UTF-8 by escapes."""
    return json.dumps(text, ensure_ascii=any("\ud800" <= sign <= "\udfff" for sign in text))


def _id_of(folder: Path, home: Path) -> str:
    """Name an agent after a folder; after that above it where all are called alike, as Claude Code's are."""
    named = folder.parent if folder.name == "memory" else folder
    # Claude Code names the folder of a project after its path
    plain = named.name.removeprefix(str(home).replace("/", "-"))
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[-ID_LENGTH:].strip("-") or "notes"
