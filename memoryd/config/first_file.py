"""The file that `memoryctl init` writes: as little as can be, so that the defaults of later versions hold."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoryd.config.agents import DEFAULT_AGENT
from memoryd.domain.embedding import LOCAL, NONE, FirstModel

HEAD: Final = """\
// memoryd's configuration, made by `memoryctl init`. What holds: memoryctl config show --all
// After a change: memoryctl config check, then memoryctl reload.
"""
ID_LENGTH: Final = 40
WHOLE: Final = 'extraPaths: ["."], // every Markdown file of the folder'


@dataclass(frozen=True, slots=True)
class FirstAgent:
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
