"""What doctor checks of a workspace: whether its notes are indexed, and which lines look like memories and are none."""

import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from memoryd.cli.checks.finding import Examination, Finding, check, with_part
from memoryd.cli.terminal import count
from memoryd.config.agents import Agent
from memoryd.config.root import Config
from memoryd.domain.documents import (
    INDEX_ALL,
    ROOT_FILES,
    OutsideCount,
    RelativePath,
    is_conflict_copy,
    original_of,
    printable_name,
)
from memoryd.domain.memories.edits import strays_in
from memoryd.domain.memories.machines import machine_key
from memoryd.domain.memories.sections import is_of_memories, memory_sections
from memoryd.domain.patterns import is_glob
from memoryd.domain.text.sanitizing import marked_conflicts
from memoryd.errors import ConfigError
from memoryd.files.ignore import IGNORE_FILE, patterns_of, why_private
from memoryd.files.machine_journals import read_journals
from memoryd.files.reading import NotReadableError, TornReadError, read_snapshot, utf8_of
from memoryd.files.roots import count_outside, roots_and_rules
from memoryd.files.scanner import scan


@check(
    "notes.indexed",
    "notes",
    advice="name the folder in `agents.defaults.workspace`, and other places in `memorySearch.extraPaths`",
)
def notes(examination: Examination) -> Iterator[Finding]:
    """Look at whether there is a workspace, and whether notes lie in it that nobody looks at."""
    # the daemon's word goes first: it may have been started with --all
    if examination.status is not None:
        for told in examination.status["agents"]:
            found = told.get("outside")
            outside = OutsideCount(found["files"], is_more=found["more"]) if found else OutsideCount()
            yield from _of_notes(told["id"], Path(told["workspace"]), told["files"], outside)
        return
    for agent in examination.agents:
        roots, rules = roots_and_rules(agent, max_file_bytes=examination.config.limits.max_file_bytes)
        seen = scan(roots, rules)
        yield from _of_notes(agent.id, agent.workspace, len(seen.files), count_outside(seen, rules))


def _of_notes(agent: str, workspace: Path, files: int, outside: OutsideCount) -> Iterator[Finding]:
    found = f"{count(files, 'note')} in {workspace}"
    if not workspace.is_dir():
        hint = "make it, name another folder (memoryctl init asks for it), or start memoryd with --workspace DIR"
        finding = Finding("wrong", f"there is no folder {workspace}", hint)
    elif not outside.files:
        finding = Finding("ok", found)
    else:
        finding = Finding("ok" if files else "wrong", f"{found}; {outside} in other places not indexed", INDEX_ALL)
    yield from with_part(f"notes of {agent}", finding)


@check(
    "notes.ignored",
    "ignored",
    advice="write a path as it stands below the workspace, without marks of lists around it: `memory/letters/`",
)
def ignored(examination: Examination) -> Iterator[Finding]:
    """Look at whether each path that `.memoryignore` names is there to be hidden."""
    for workspace in {agent.workspace: None for agent in examination.agents}:
        try:
            text = (workspace / IGNORE_FILE).read_text("utf-8")
        except (OSError, ValueError):
            # what cannot be read holds everything up, and the part about the daemon says so
            continue
        paths = list(islice(_below(workspace), MAX_PATHS))
        for number, line in enumerate(text.splitlines(), 1):
            is_path = len(paths) < MAX_PATHS and line.strip() and not line.startswith(("#", "!")) and not is_glob(line)
            if is_path and not any(map(patterns_of(workspace, [line]).hides, paths)):
                shown = printable_name(RelativePath(line.strip()))
                yield Finding("look", f"line {number} of {workspace / IGNORE_FILE} hides nothing: {shown}")


@check("notes.conflicts", "notes", advice="`memoryctl conflicts` shows how both versions differ, and settles it")
def conflicts(examination: Examination) -> Iterator[Finding]:
    """Look at whether there are two versions of a note, left by a program that synchronises folders or by git."""
    for agent in examination.agents:
        roots, rules = roots_and_rules(agent, max_file_bytes=examination.config.limits.max_file_bytes)
        names = [name.name for name in agent.workspace.glob("*.md") if original_of(name.name) in ROOT_FILES]
        copies = sorted({path for path in (*scan(roots, rules).files, *names) if is_conflict_copy(path)})
        marked = [path for path, data in _documents(agent, examination.config) if any(marked_conflicts(data))]
        found = [f"{printable_name(path)} is another version of {printable_name(original_of(path))}" for path in copies]
        found += [f"{printable_name(path)} has both versions between the marks of git" for path in marked]
        findings = [Finding("look", one, "memoryctl conflicts") for one in found[:MAX_SHOWN]]
        if len(found) > MAX_SHOWN:
            findings.append(Finding("look", f"{len(found) - MAX_SHOWN:,} more conflicts like these"))
        yield from with_part(f"notes of {agent.id}", *findings or [Finding("ok", "no note has two versions")])


@check(
    "notes.machines",
    "notes",
    advice="give all machines on the folder the same `memory.machines.secret`; delete what no machine writes any more",
)
def machines(examination: Examination) -> Iterator[Finding]:
    """Look at what travels between the machines on one folder beside its notes, and at what cannot be read of it."""
    for agent in examination.agents:
        yield from with_part(f"machines of {agent.id}", *_of_machines(agent))


def _of_machines(agent: Agent) -> Iterator[Finding]:
    if (secret := agent.memory.machines.secret) is None:
        yield Finding("off", "nothing but notes travels: memory.machines.secret is unset")
        return
    try:
        journals = read_journals(agent.workspace, machine_key(secret.reveal()), {})
    except (OSError, ConfigError) as exc:
        yield Finding("wrong", str(exc))
        return
    for one in journals:
        yield from (Finding("look", f"{one.path.name}: {problem}") for problem in one.problems(time.time()))
    heard = {entry.machine for one in journals for entry in one.entries}
    yield Finding("ok", f"{count(len(heard), 'machine')} told something; {STAYS}")


STAYS: Final = "proposals, undo, judgements of what was told and days of undated lines stay on each"


def _below(workspace: Path) -> Iterator[str]:
    """Yield the paths of files and folders below a workspace, those of folders with a `/` at the end."""
    for folder, folders, files in os.walk(workspace):
        at = Path(folder).relative_to(workspace)
        folders[:] = [name for name in folders if name != ".git"]
        yield from (f"{at / name}/" for name in folders)
        yield from (str(at / name) for name in files)


MAX_PATHS: Final = 20_000
MAX_SHOWN: Final = 10
"""Of one agent: who mends these asks again."""
_HINT: Final = "it is found by its words alone, as any text; docs/how-to/memories.md says how a memory is written"

_STRAY_HINT: Final = "move it behind the kind; docs/how-to/memories.md says how a memory is written"


@check(
    "memories.written",
    "memories",
    advice="correct the line: `docs/how-to/memories.md` says how a memory is written, and"
    " `docs/explanation/why-recalled.md` why one is recalled, or is not",
)
def memories(examination: Examination) -> Iterator[Finding]:
    """Look at retained lines and pages, for lines that look like a memory and are none, or have attributes as text."""
    for agent in examination.agents:
        yield from with_part(f"memories of {agent.id}", *_of(agent, examination.config))


def _of(agent: Agent, config: Config) -> Iterator[Finding]:
    if not agent.workspace.is_dir():
        return
    stated, missed = 0, []
    for path, data in _documents(agent, config):
        sections = memory_sections(data, path)
        stated += len(sections.lines)
        missed += [(path, miss, _HINT if miss.text else "") for miss in sections.misses]
        missed += [(path, stray, _STRAY_HINT) for stray in strays_in(sections)]
    message = f"{count(stated, 'line')} state{'s' if stated == 1 else ''} a memory"
    yield Finding("ok", message, "docs/explanation/why-recalled.md says why one is recalled, or is not")
    for path, miss, hint in islice(missed, MAX_SHOWN):
        text = f": {miss.text}" if miss.text else ""
        yield Finding("look", f"{printable_name(path)}#L{miss.line}: {miss.reason}{text}", hint)
    if len(missed) > MAX_SHOWN:
        yield Finding("look", f"{len(missed) - MAX_SHOWN:,} more lines like these")


def _documents(agent: Agent, config: Config) -> Iterator[tuple[RelativePath, bytes]]:
    """Yield the documents that may hold memories; one that says of itself that it is private is left out."""
    roots, rules = roots_and_rules(agent, max_file_bytes=config.limits.max_file_bytes)
    for path in sorted(filter(is_of_memories, scan(roots, rules).files)):
        try:
            content = read_snapshot(
                Path(rules.workspace), path, max_bytes=rules.max_file_bytes, follow_symlinks=rules.follow_symlinks
            )
        except (OSError, NotReadableError, TornReadError):
            # the check of the notes reports what cannot be read
            continue
        data, _ = utf8_of(content)
        if not why_private(data):
            yield path, data
