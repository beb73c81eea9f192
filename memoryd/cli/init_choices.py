"""What is decided before `memoryctl init` writes anything: which folders, all of them or not, which model, which file.

Whatever an option says is not asked; where nobody can be asked, what is safe is taken, or the option is named.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import click

from memoryd.cli.init_found import NotesFolder, OpenClawFile
from memoryd.cli.terminal import count, harmless_line, note
from memoryd.domain.embedding import (
    LOCAL,
    NONE,
    REMOTE,
    FirstModel,
    ModelsHere,
    local_model,
    named_model,
    proposed_model,
)
from memoryd.errors import ConfigError, MemorydError


class FirstLook(Protocol):
    """Looks for what there is; `memoryd.cli.init_survey` is one."""

    def folder_at(self, path: Path) -> NotesFolder: ...

    def folders_found(self) -> list[NotesFolder]: ...

    def openclaw_file(self) -> OpenClawFile | None: ...

    def models_here(self) -> ModelsHere: ...

    def host_of(self, provider: str) -> str: ...


@dataclass(frozen=True, slots=True)
class InitOptions:
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


@dataclass(frozen=True, slots=True)
class InitChoices:
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
    folders = [here.folder_at(path) for path in options.folders] or _picked(here, options)
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
    sent = sorted({agent.memory_search.provider for agent in found.agents} & REMOTE - {"ollama"})
    warning = (
        f" The text of your notes will leave this machine, for {', '.join(map(here.host_of, sent))}." if sent else ""
    )
    is_meant = _asked(f"{question}: use it for memoryd, by a link?{warning}", default=not sent)
    return found.path if is_meant else None


def _usable(found: OpenClawFile | None) -> Path:
    if found is None:
        raise MemorydError("there is no configuration of OpenClaw", hint="name a folder: memoryctl init DIR")
    if found.check.loaded is None:
        raise ConfigError([one.message for one in found.check.problems], source=str(found.path))
    return found.path


def _picked(here: FirstLook, options: InitOptions) -> list[NotesFolder]:
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
    if not _asked(f"There is no folder {folder.path}: make it?", default=True):
        raise click.Abort


def _is_whole(folder: NotesFolder, options: InitOptions) -> bool:
    """Tell whether every Markdown file of a folder is meant."""
    if options.is_whole is not None:
        return options.is_whole
    if not folder.outside or folder.kind == "claude":
        return folder.is_whole_by_default or bool(folder.outside)
    if options.is_asking:
        return _asked(folder.question, default=folder.is_whole_by_default)
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
    return model if not sends or _asked(sends, default=False) else _asked_model(found, here)


def _asked(question: str, *, default: bool) -> bool:
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
