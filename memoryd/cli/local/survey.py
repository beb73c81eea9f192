"""The search for folders with notes, models, keys and OpenClaw's configuration, for `memoryctl init`; read-only."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from memoryd.cli.terminal import count
from memoryd.config.agents import DEFAULT_AGENT, DEFAULT_WORKSPACE, Agent
from memoryd.config.limits import LimitsSection
from memoryd.config.loading.consistency import TOO_WIDE_FOLDER
from memoryd.config.memory import MemorySection
from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.paths import openclaw_dir
from memoryd.config.providers import DEFAULT_MODEL, LocalSection
from memoryd.domain.embedding import PROVIDERS, ModelsHere, is_english_alone
from memoryd.domain.text.languages import language_of
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.files.reading import read_head
from memoryd.files.roots import count_outside, roots_and_rules
from memoryd.files.scanner import Scan, ScanRules, scan
from memoryd.models.families import inspect
from memoryd.models.packaged import find
from memoryd.models.source import PackageSource, parse
from memoryd.models.store import ModelStore

SAMPLES = 300
"""Notes per folder that are read to detect their language, which takes a tenth of a second."""
SAMPLE_BYTES = 2048

_PROGRAMS = {"openclaw": "OpenClaw's workspace", "claude": "Claude Code's memory of a project", "folder": "a folder"}


class NotesFolder(Struct, frozen=True):
    """A folder with numbers of Markdown files: `files` in the layout of an agent program, `outside` elsewhere in it."""

    path: Path
    kind: Literal["openclaw", "claude", "folder"]
    files: int = 0
    outside: int = 0
    is_more: bool = False
    """True if counting the files outside stopped at its limit."""
    is_there: bool = True

    @property
    def description(self) -> str:
        """The folder in one line, for a list of choices."""
        return f"{self.path} ({_PROGRAMS[self.kind]}, {self.all_files})"

    @property
    def all_files(self) -> str:
        """The number of Markdown files, in words."""
        more = "more than " if self.is_more else ""
        return f"{more}{count(self.files + self.outside, 'Markdown file')}"

    @property
    def question(self) -> str:
        """The question about files outside of the layout; empty if there are none."""
        if not self.outside:
            return ""
        if not self.files:
            return f"{self.all_files} in {self.path}: index all of them?"
        others = f"{'more than ' if self.is_more else ''}{count(self.outside, 'more Markdown file')}"
        return f"{count(self.files, 'note')} in MEMORY.md, memory/ and bank/ of {self.path}, and {others}: index all?"


def folder_at(path: Path) -> NotesFolder:
    """Return a folder that the user named, with its counts; raises InvalidRequest if it cannot be a workspace."""
    absolute = Path(os.path.abspath(path.expanduser()))  # noqa: PTH100  (`..` is resolved without following links)
    real = absolute.resolve()
    if real in (Path("/"), Path.home().resolve()):
        raise InvalidRequest(f"{absolute} {TOO_WIDE_FOLDER}", hint="name the folder with your notes")
    if real.exists() and not real.is_dir():
        raise InvalidRequest(f"{absolute} is no folder", hint="name the folder with your notes")
    return _count_notes(absolute, "folder")


def find_folders() -> list[NotesFolder]:
    """Return the folders in which agent programs have notes, OpenClaw's first; folders without notes are left out."""
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    folders = [_count_notes(Path(DEFAULT_WORKSPACE).expanduser(), "openclaw")]
    folders += [_count_notes(path, "claude") for path in sorted(claude.glob("projects/*/memory")) if path.is_dir()]
    return [folder for folder in folders if folder.files + folder.outside]


def files_of(agent: Agent) -> int:
    """Return the number of files that would be indexed for an agent; 0 if its workspace does not exist."""
    if not agent.workspace.is_dir():
        return 0
    return len(scan(*roots_and_rules(agent, max_file_bytes=LimitsSection().max_file_bytes)).files)


def openclaw_file() -> Path | None:
    """Return the path of OpenClaw's configuration; None if there is none."""
    paths = (openclaw_dir() / name for name in ("openclaw.json5", "openclaw.json"))
    return next(filter(Path.is_file, paths), None)


def models_here(folders: Sequence[tuple[Path, bool]], *, is_local: bool) -> ModelsHere:
    """Look for llama.cpp, models in the cache, and keys in the environment.

    If a local model may be used and the default model is not stored, this checks whether its hub answers (seconds) and
    detects the language of the notes in `folders`, each with whether all its Markdown files are notes.
    """
    store = ModelStore.from_config(LocalSection(), os.environ)
    stored = tuple(dict.fromkeys(_stored_models(store)))
    has_llama = find_spec("llama_cpp") is not None
    is_wanted = is_local and has_llama and store.may_fetch and DEFAULT_MODEL not in stored
    return ModelsHere(
        has_llama=has_llama,
        default_spec=DEFAULT_MODEL,
        stored=stored,
        may_fetch=store.may_fetch,
        has_hub=not is_wanted or asyncio.run(store.is_fetchable(DEFAULT_MODEL)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        is_english=is_wanted and is_english_alone(map(language_of, _samples(folders))),
        keys={row.name: name for row in PROVIDERS.values() for name in row.key_variables[::-1] if os.environ.get(name)},
    )


def require_source(spec: str) -> None:
    """Raise ModelError, with the possible forms, for a spec that names no model."""
    source = parse(spec)
    if isinstance(source, PackageSource):
        find(source)


def _samples(folders: Sequence[tuple[Path, bool]]) -> Iterator[str]:
    """Yield the beginnings of notes, spread evenly over each folder."""
    for folder, takes_all in folders:
        if not folder.is_dir():
            continue
        notes = sorted(_scan(folder, takes_all=takes_all)[0].files)
        for at in notes[:: len(notes) // SAMPLES + 1]:
            with suppress(OSError):
                yield read_head(folder, at, SAMPLE_BYTES)


def hosts() -> dict[str, str]:
    """Return provider → host that its requests are sent to."""
    return {name: urlsplit(provider.base_url).netloc for name, provider in PROVIDERS.items()}


def _stored_models(store: ModelStore) -> Iterator[str]:
    if store.locate(DEFAULT_MODEL) is not None:
        yield DEFAULT_MODEL
    for model in store.list():
        if model.is_complete and model.spec and _embeds(model.path):
            yield model.spec


def _embeds(path: Path) -> bool:
    try:
        inspect(path)
    except MemorydError:
        return False
    return True


def _count_notes(folder: Path, kind: Literal["openclaw", "claude", "folder"]) -> NotesFolder:
    if not folder.is_dir():
        return NotesFolder(folder, kind, is_there=False)
    disk, rules = _scan(folder)
    outside = count_outside(disk, rules)
    return NotesFolder(folder, kind, files=len(disk.files), outside=outside.files, is_more=outside.is_more)


def _scan(folder: Path, *, takes_all: bool = False) -> tuple[Scan, ScanRules]:
    search = MemorySearchSection(extra_paths=(".",) if takes_all else ())
    agent = Agent(DEFAULT_AGENT, DEFAULT_AGENT, True, folder, search, MemorySection())
    roots, rules = roots_and_rules(agent, max_file_bytes=LimitsSection().max_file_bytes)
    return scan(roots, rules), rules
