"""What an agent's qmd indexes, by its configuration: the notes of its memory, and further paths."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from memoryd.config.agents import Agent
from memoryd.config.qmd import QmdPathSection
from memoryd.domain.documents import CORE_FILES, ROOT_FILES, ROOT_FOLDERS
from memoryd.domain.media import modality_of
from memoryd.files.scanner import ScanRoot
from memoryd.qmd.collections import Collection, distinct, escaped

MARKDOWN = "**/*.{md,MD}"


def further_paths(agent: Agent) -> tuple[QmdPathSection, ...]:
    """Return what qmd indexes and the builtin index does not."""
    return (*agent.memory.qmd.paths, *agent.memory_search.qmd.extra_collections)


def collections_of(agent: Agent, workspace: Path, roots: Callable[[], Sequence[ScanRoot]]) -> tuple[Collection, ...]:
    """Return the collections as they are to be now: whether a path is a file or a folder is looked up on the disk."""
    of_memory = _of_memory(agent.id, workspace, roots()) if agent.memory.qmd.include_default_memory else ()
    return distinct((*of_memory, *_of_paths(agent.id, workspace, further_paths(agent))))


def _of_memory(agent: str, workspace: Path, roots: Sequence[ScanRoot]) -> Iterator[Collection]:
    """Yield what the builtin index holds: the notes of the workspace as one collection, then the extra paths.

    One and not one for each folder: asked for several by name, qmd ranks each alone, and the best of a folder with
    nothing to say stands beside the best of all.
    """
    files = ",".join(name.removesuffix(".md") for name in dict.fromkeys((*CORE_FILES, *ROOT_FILES)))
    pattern = f"{{{files}}}.md,{{{','.join(ROOT_FOLDERS)}}}/{MARKDOWN}"
    yield Collection(f"memory-root-{agent}", str(workspace), pattern, is_default=True)
    extra = [root for root in roots if not root.is_optional and modality_of(root.path.name) is None]
    extra = [root for root in extra if str(root.path) != root.pattern]
    for number, root in enumerate(extra):
        yield _at(root.path, f"extra-{number}-{agent}", MARKDOWN, is_default=True)


def _of_paths(agent: str, workspace: Path, paths: Sequence[QmdPathSection]) -> Iterator[Collection]:
    for number, one in enumerate(paths):
        # by its real name, since the rules name the notes of the workspace by theirs
        path = Path(os.path.realpath(workspace / Path(one.path).expanduser()))
        yield _at(path, one.name or f"custom-{number}-{agent}", one.pattern, is_default=False)


def _at(path: Path, name: str, pattern: str, *, is_default: bool) -> Collection:
    if path.is_file():
        return Collection(name, str(path.parent), escaped(path.name), is_default)
    return Collection(name, str(path), pattern, is_default)
