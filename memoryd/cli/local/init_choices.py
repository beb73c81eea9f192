"""What `memoryctl init` decides before it writes: which folders, how much of them, which model, which file.

What an option says is not asked for. Where nobody can be asked, the safe choice is taken, or the option is named. The
file is checked as a start would check it, and says as little as it can, so that the defaults of later versions hold.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, Protocol, TypedDict

import click
from msgspec import Struct
from msgspec.structs import replace

from memoryd.cli.terminal import count, harmless_line, note
from memoryd.config.agents import DEFAULT_AGENT, Agent
from memoryd.config.loading.load import Checked, Loaded, loaded_of
from memoryd.config.loading.raw import ConfigText, read
from memoryd.domain.embedding import (
    BY_KEY,
    LOCAL,
    NONE,
    FirstModel,
    ModelsHere,
    local_model,
    named_model,
    proposed_model,
)
from memoryd.errors import ConfigError, MemorydError

_PROGRAMS = {"openclaw": "OpenClaw's workspace", "claude": "Claude Code's memory of a project", "folder": "a folder"}
HEAD: Final = """\
// memoryd's configuration, made by `memoryctl init`. What holds: memoryctl config show --all
// After a change: memoryctl config check, then memoryctl reload.
"""
ID_LENGTH: Final = 40
WHOLE: Final = 'extraPaths: ["."], // every Markdown file of the folder'


class NotesFolder(Struct, frozen=True):
    """`files` are those that an agent program's layout has, `outside` the other Markdown files below the folder."""

    path: Path
    kind: Literal["openclaw", "claude", "folder"]
    files: int = 0
    outside: int = 0
    is_more: bool = False
    """Whether counting those outside stopped before the end."""
    is_there: bool = True

    @property
    def told(self) -> str:
        """What it is, for somebody who is to choose."""
        return f"{self.path} ({_PROGRAMS[self.kind]}, {self.all_files})"

    @property
    def all_files(self) -> str:
        """How many Markdown files there are, in words."""
        more = "more than " if self.is_more else ""
        return f"{more}{count(self.files + self.outside, 'Markdown file')}"

    @property
    def question(self) -> str:
        """What to ask about the files outside of the layout; empty if there is nothing to ask."""
        if not self.outside:
            return ""
        if not self.files:
            return f"{self.all_files} in {self.path}: index all of them?"
        others = f"{'more than ' if self.is_more else ''}{count(self.outside, 'more Markdown file')}"
        return f"{count(self.files, 'note')} in MEMORY.md, memory/ and bank/ of {self.path}, and {others}: index all?"

    @property
    def is_whole_by_default(self) -> bool:
        """Whether all is taken if nobody objects: where no agent program has its layout, all are notes."""
        return not self.files


class OpenClawFile(Struct, frozen=True):
    """A configuration of OpenClaw, and what memoryd makes of it."""

    path: Path
    check: Checked

    @property
    def agents(self) -> list[Agent]:
        """The agents that result from it; none if memoryd would refuse it."""
        return self.check.loaded.config.resolved_agents() if self.check.loaded else []


class FirstLook(Protocol):
    """Looks for what there is; `memoryd.cli.local.init_survey` is one."""

    def folder_at(self, path: Path) -> NotesFolder: ...

    def folders_found(self) -> list[NotesFolder]: ...

    def openclaw_file(self) -> OpenClawFile | None: ...

    def models_here(self) -> ModelsHere: ...

    def host_of(self, provider: str) -> str: ...


class InitOptions(Struct, frozen=True):
    """What was said on the command line; None: nothing was said about it."""

    folders: tuple[Path, ...] = ()
    is_whole: bool | None = None
    model: str | None = None
    uses_openclaw: bool | None = None
    is_asking: bool = False
    is_agreed: bool = False
    """`--yes`: what is proposed is meant."""

    @property
    def says_something(self) -> bool:
        """Whether a configuration is described, which may be another than is there."""
        return bool(self.folders) or any(one is not None for one in (self.is_whole, self.model, self.uses_openclaw))


class InitChoices(Struct, frozen=True):
    """Folders, each with whether all of it is meant, and who makes vectors; or OpenClaw's file in place of both."""

    folders: tuple[tuple[NotesFolder, bool], ...] = ()
    model: FirstModel | None = None
    linked: Path | None = None


def chosen(options: InitOptions, here: FirstLook) -> InitChoices:
    """Decide all; asks only if somebody is there. Raises InvalidRequest, UsageError and ConfigError."""
    if options.uses_openclaw and (options.folders or options.model or options.is_whole is not None):
        raise click.UsageError("--openclaw takes that file as it is: no DIR, --workspace, --all or --model with it")
    if (linked := _openclaw(options, here)) is not None:
        return InitChoices(linked=linked)
    folders = [here.folder_at(path) for path in options.folders] or _pick_folders(here, options)
    once = {folder.path.resolve(): folder for folder in folders}.values()
    for folder in once:
        _require(folder, options)
    return InitChoices(tuple((one, _is_whole(one, options)) for one in once), _model(here, options))


def _openclaw(options: InitOptions, here: FirstLook) -> Path | None:
    found = None if options.uses_openclaw is False else here.openclaw_file()
    if options.uses_openclaw:
        return _usable(found)
    if found is None or options.folders or options.model or not options.is_asking:
        return None
    if found.check.loaded is None:
        problems = count(len(found.check.problems), "problem")
        note(f"OpenClaw's configuration cannot be used as it is, for {problems}: memoryctl config check {found.path}")
        return None
    who = ", ".join(sorted({agent.memory_search.provider for agent in found.agents}))
    agents = ", ".join(f"agent {agent.id} on {agent.workspace}" for agent in found.agents)
    question = f"OpenClaw's configuration {found.path} fits ({agents}; vectors by {who})"
    sent = sorted({agent.memory_search.provider for agent in found.agents} & set(BY_KEY))
    warning = (
        f" The text of your notes will leave this machine, for {', '.join(map(here.host_of, sent))}." if sent else ""
    )
    is_meant = _confirm(f"{question}: use it for memoryd, by a link?{warning}", default=not sent)
    return found.path if is_meant else None


def _usable(found: OpenClawFile | None) -> Path:
    if found is None:
        raise MemorydError("there is no configuration of OpenClaw", hint="name a folder: memoryctl init DIR")
    if found.check.loaded is None:
        raise ConfigError([one.message for one in found.check.problems], source=str(found.path))
    return found.path


def _pick_folders(here: FirstLook, options: InitOptions) -> list[NotesFolder]:
    """Return the folders that are meant of those that were found."""
    found = here.folders_found()
    if not options.is_asking:
        if len(found) == 1 or (found and found[0].kind == "openclaw"):
            return [found[0]]
        which = "; ".join(str(one.path) for one in found)
        told = f"several folders with notes were found ({which})" if found else "no folder with notes was found"
        raise click.UsageError(f"{told}: name yours, memoryctl init DIR")
    for number, one in enumerate(found, 1):
        click.echo(f"  {number}  {harmless_line(one.told)}", err=True)
    question = "Which folders (numbers such as 1,2, or a path)" if found else "The folder with your notes"
    return _read_folders(click.prompt(question, default="1" if found else "~/notes", err=True), found, here)


def _read_folders(said: str, found: Sequence[NotesFolder], here: FirstLook) -> list[NotesFolder]:
    numbers = [part.strip() for part in said.split(",")]
    if all(part.isdecimal() and 1 <= int(part) <= len(found) for part in numbers):
        return [found[int(part) - 1] for part in numbers]
    return [here.folder_at(Path(said))]


def _require(folder: NotesFolder, options: InitOptions) -> None:
    """See to it that a folder which is not there is meant to be made. Raises UsageError."""
    if folder.is_there or options.is_agreed:
        return
    if not options.is_asking:
        raise click.UsageError(f"there is no folder {folder.path}: make it, or add --yes")
    if not _confirm(f"There is no folder {folder.path}: make it?", default=True):
        raise click.Abort


def _is_whole(folder: NotesFolder, options: InitOptions) -> bool:
    """Tell whether every Markdown file of a folder is meant."""
    if options.is_whole is not None:
        return options.is_whole
    if not folder.outside or folder.kind == "claude":
        return folder.is_whole_by_default or bool(folder.outside)
    if options.is_asking:
        return _confirm(folder.question, default=folder.is_whole_by_default)
    if folder.files or options.is_agreed:
        return folder.is_whole_by_default
    raise click.UsageError(f"{folder.question} Say --all, or --no-all for MEMORY.md, memory/ and bank/ alone.")


def _model(here: FirstLook, options: InitOptions) -> FirstModel:
    found = here.models_here()
    if options.model is not None:
        return named_model(options.model, found)
    return _asked_model(found, here) if options.is_asking else proposed_model(found)


def _asked_model(found: ModelsHere, here: FirstLook) -> FirstModel:
    told = {LOCAL: local_model(found).reason, NONE: "search by words only"}
    told |= {
        name: f"${key} is set; your notes would be sent to {here.host_of(name)}" for name, key in found.keys.items()
    }
    click.echo("Search by meaning needs a model that makes vectors:", err=True)
    for name, what in told.items():
        click.echo(f"  {name:<8} {what}", err=True)
    usual = proposed_model(found).provider
    name = click.prompt("Which", type=click.Choice(list(told)), default=usual, show_choices=False, err=True)
    model = named_model(name, found)
    sends = (
        f"The text of your notes will leave this machine, for {here.host_of(name)}. Is that meant?"
        if model.leaves_machine
        else ""
    )
    return model if not sends or _confirm(sends, default=False) else _asked_model(found, here)


def _confirm(question: str, *, default: bool) -> bool:
    return click.confirm(harmless_line(question), default=default, err=True)


def notices_of(choices: InitChoices) -> list[str]:
    """Return what is worth knowing about what was chosen."""
    told = [
        f"{one.path}: {count(one.outside, 'Markdown file')} outside of MEMORY.md, memory/ and bank/ left out; "
        "--all takes them in"
        for one, is_whole in choices.folders
        if one.outside and not is_whole
    ]
    if choices.model is not None and choices.model.leaves_machine:
        told.append(
            f"a service does not see the variables of your shell: put the key of {choices.model.provider} into a file "
            'of mode 600, and name it: memorySearch.remote.apiKey: {file: "/absolute/path"}'
        )
    return told


class AgentTold(TypedDict):
    """An agent of the reply; `files` are those that its memory is made of now."""

    id: str
    workspace: str
    files: int


class CountsFiles(Protocol):
    """Counts the files of an agent; `memoryd.cli.local.init_survey` does."""

    def files_of(self, agent: Agent) -> int: ...


class InitSurvey(FirstLook, CountsFiles, Protocol):
    """All that has to be known of the machine."""


class FirstPlan(Struct, frozen=True):
    """A file of this text at `path`, or a link to another file, and folders that are not there yet."""

    path: Path
    text: str
    linked: Path | None
    loaded: Loaded
    choices: InitChoices
    missing: tuple[Path, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether just this stands at the path already."""
        try:
            if self.linked is not None:
                return self.path.is_symlink() and self.path.resolve() == self.linked.resolve()
            return self.path.read_bytes() == self.text.encode()
        except (OSError, RuntimeError):
            return False


def planned(options: InitOptions, path: Path, here: InitSurvey) -> FirstPlan:
    """Decide all, and read it as memoryd will. Raises ConfigError, InvalidRequest, UsageError."""
    choices = chosen(options, here)
    if choices.linked is not None:
        return FirstPlan(path, "", choices.linked, loaded_of(read(choices.linked), path), choices)
    home = Path.home()
    agents = named_agents([(folder.path, is_whole) for folder, is_whole in choices.folders], home)
    text = file_text(agents, choices.model or FirstModel(NONE), home)
    missing = tuple(folder.path for folder, _ in choices.folders if not folder.is_there)
    return FirstPlan(path, text, None, loaded_of(ConfigText(text), path), choices, missing)


def is_what_is_there(options: InitOptions, path: Path, here: InitSurvey) -> bool:
    """Tell whether the options describe what stands at the path; asks nobody."""
    return planned(replace(options, is_asking=False, is_agreed=True), path, here).is_there


def carry_out(plan: FirstPlan, now: datetime) -> Path | None:
    """Write it, whole or not at all; return the copy of what was there before. Raises NotNow, MemorydError."""
    # here: nothing else of this module touches files
    from memoryd.cli.written_file import link, make, make_folder, replace_kept

    for folder in plan.missing:
        make_folder(folder)
    is_new = not (plan.path.is_symlink() or plan.path.exists())
    if plan.linked is not None:
        return link(plan.path, plan.linked, None if is_new else now)
    if is_new:
        make(plan.path, plan.text)
        return None
    return replace_kept(plan.path, plan.text, now)


def agents_told(agents: Sequence[Agent], here: CountsFiles) -> list[AgentTold]:
    """Count what each agent has; a folder that is not there has nothing."""
    return [
        {
            "id": one.id,
            "workspace": str(one.workspace),
            "files": here.files_of(one) if one.workspace.is_dir() else 0,
        }
        for one in agents
    ]


class FirstAgent(Struct, frozen=True):
    """An agent with its folder; `is_whole`: every Markdown file of it is indexed."""

    id: str
    workspace: Path
    is_whole: bool


def named_agents(workspaces: Sequence[tuple[Path, bool]], home: Path) -> list[FirstAgent]:
    """Give each folder an agent: the first is the usual one, the others are named after their folders."""
    taken = {DEFAULT_AGENT}
    found = []
    for number, (folder, is_whole) in enumerate(workspaces):
        name = _free(_id_of(folder, home), taken) if number else DEFAULT_AGENT
        taken.add(name)
        found.append(FirstAgent(name, folder, is_whole))
    return found


def file_text(agents: Sequence[FirstAgent], model: FirstModel, home: Path) -> str:
    """Return the JSON5 text; folders below the home folder are written with `~`."""
    lines = ["{", "  agents: {", "    defaults: {"]
    if len(agents) == 1:
        lines += _indented([f"workspace: {_path(agents[0].workspace, home)},"], 6)
    search = [WHOLE] if len(agents) == 1 and agents[0].is_whole else []
    lines += _indented(["memorySearch: {", *_indented([*search, *_model_lines(model)], 2), "},"], 6)
    lines += ["    },"]
    if len(agents) > 1:
        lines += ["    list: [", *(_entry(agent, home) for agent in agents), "    ],"]
    return HEAD + "\n".join([*lines, "  },", "}"]) + "\n"


def _entry(agent: FirstAgent, home: Path) -> str:
    search = ', memorySearch: { extraPaths: ["."] }' if agent.is_whole else ""
    return f'      {{ id: "{agent.id}", workspace: {_path(agent.workspace, home)}{search} }},'


def _model_lines(model: FirstModel) -> Iterator[str]:
    said = {LOCAL: "a model on this machine", NONE: "search by words only"}
    yield f'provider: "{model.provider}", // {said.get(model.provider, "the text of your notes is sent there")}'
    if model.spec:
        yield f"local: {{ modelPath: {_quoted(model.spec)} }},"


def _indented(lines: Iterable[str], width: int) -> Iterator[str]:
    return (f"{' ' * width}{line}" for line in lines)


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


def _free(name: str, taken: Iterable[str]) -> str:
    return next(one for number in range(1, 10_000) if (one := f"{name}-{number}" if number > 1 else name) not in taken)
