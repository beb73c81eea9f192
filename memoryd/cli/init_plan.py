"""What `memoryctl init` is to write, checked as a start would check it, before anything is written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypedDict

from memoryd.cli.init_choices import FirstLook, InitChoices, InitOptions, chosen
from memoryd.config.agents import Agent
from memoryd.config.first_file import file_text, named_agents
from memoryd.config.loading.load import Loaded, loaded_of
from memoryd.config.loading.raw import ConfigText, read
from memoryd.domain.embedding import NONE, FirstModel


class AgentTold(TypedDict):
    """An agent of the reply; `files` are those that its memory is made of now."""

    id: str
    workspace: str
    files: int


class CountsFiles(Protocol):
    """Counts the files of an agent; `memoryd.cli.init_survey` does."""

    def files_of(self, agent: Agent) -> int: ...


class InitSurvey(FirstLook, CountsFiles, Protocol):
    """All that has to be known of the machine."""


@dataclass(frozen=True, slots=True)
class FirstPlan:
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
