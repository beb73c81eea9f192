"""Checks of doctor for notes and databases: indexed notes, malformed memory lines, index, ledger and restored copies.

While a daemon runs, its databases are read like by one of its readers, and never written.
"""

import os
import random
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import file_digest
from itertools import islice
from pathlib import Path

from memoryd.cli.checks.finding import CheckContext, Finding, Findings, Remedy, check, with_part
from memoryd.cli.terminal import count, duration, size
from memoryd.config.agents import Agent
from memoryd.config.paths import state_dir
from memoryd.config.root import Config
from memoryd.domain.documents import (
    INDEX_ALL,
    OutsideCount,
    RelativePath,
    is_conflict_copy,
    is_outside,
    original_of,
    possible_original_of,
    printable_name,
)
from memoryd.domain.memories.edits import strays_in
from memoryd.domain.memories.sections import is_of_memories, memory_sections
from memoryd.domain.patterns import is_glob
from memoryd.domain.text.sanitizing import marked_conflicts
from memoryd.errors import ForeignDatabase, NotNow, StoreError
from memoryd.files.ignore import IGNORE_FILE, is_private_file, patterns_of, why_private
from memoryd.files.reading import NotReadableError, TornReadError, read_snapshot, utf8_of
from memoryd.files.roots import base_of, count_outside, roots_and_rules
from memoryd.files.scanner import ScanRoot, ScanRules, scan
from memoryd.moving.replacing import interrupted, replaced_folder
from memoryd.store.examining import IndexFile, ledger_state
from memoryd.store.index.schema import FileKind, set_aside

SAMPLED = 50
"""Notes whose hashes are compared, without `--deep`."""
MAX_SHOWN = 5
SYNC_SECONDS = 15.0


@check(
    "index.sound",
    "index",
    advice="nothing is lost: `--fix` sets the index aside, and it is made anew from the notes",
    seconds=120,
)
def sound(examination: CheckContext) -> Findings:
    """Check pages, tables, word index and rows of the index and of the index of conversations; `--deep`: every index
    of every table too."""
    for path, part in _index_paths(examination).items():
        yield from with_part(part, *_index_findings(path, part, examination))


@check(
    "index.disk",
    "index and disk",
    advice="`memoryctl sync` catches up, `memoryctl reindex --force` reads all notes again; `--fix` asks for that",
    seconds=60,
)
def disk(examination: CheckContext) -> Findings:
    """Check whether the index equals the disk, by all names and the hashes of 50 notes; `--deep`: of all notes."""
    for agent in examination.agents:
        if agent.index_path.exists() and agent.workspace.is_dir() and _is_same_as_daemon(agent, examination):
            yield from with_part(f"index of {agent.id} and disk", _disk_finding(agent, examination))


def differences(agent: Agent, examination: CheckContext, chance: random.Random) -> tuple[int, str]:
    """Compare the index with the disk: all names, and the hashes of a sample of notes, or of all if `is_deep`.

    Return how many hashes were compared, and in words which notes are not indexed, deleted, or changed since.
    """
    indexed = IndexFile(agent.index_path, is_used=examination.is_in_use).digests()
    roots, rules = _roots(agent, examination.config)
    on_disk = scan(roots, rules).files
    both = sorted(path for path in indexed if path in on_disk)
    sample = both if examination.is_deep else chance.sample(both, min(SAMPLED, len(both)))
    new = [path for path in sorted(on_disk) if path not in indexed]
    paths_by_kind = {
        "not indexed": [path for path in new if _may_be_indexed(*base_of(path, rules.workspace, roots))],
        "gone from disk": sorted(
            path for path in indexed if path not in on_disk and not Path(rules.place(path)).exists()
        ),
        "changed since": [path for path in sample if _digest(Path(rules.place(path))) not in (indexed[path], None)],
    }
    return len(sample), "; ".join(f"{kind}: {name_some(paths)}" for kind, paths in paths_by_kind.items() if paths)


def _roots(agent: Agent, config: Config) -> tuple[list[ScanRoot], ScanRules]:
    return roots_and_rules(agent, max_file_bytes=config.limits.max_file_bytes)


def _index_paths(examination: CheckContext) -> Mapping[Path, str]:
    parts: dict[Path, str] = {}
    for agent in examination.agents:
        parts.setdefault(agent.index_path, f"index of {agent.id}")
        parts.setdefault(agent.conversations_path, f"conversations of {agent.id}")
    return parts


def _index_findings(path: Path, part: str, examination: CheckContext) -> Findings:
    file = IndexFile(path, is_used=examination.is_in_use)
    kind = file.kind
    if kind is FileKind.ABSENT:
        # conversations are stored only if the user turns that on
        if not part.startswith("conversations"):
            yield Finding("off", f"{path} is not made yet", "memoryd makes it when it starts")
    elif kind is FileKind.FOREIGN:
        hint = "name another file in agents.defaults.memorySearch.store.path, or move this one away"
        yield Finding("wrong", f"{path} is a database of another program", hint)
    elif kind is FileKind.DAMAGED and not path.is_relative_to(state_dir()):
        # without our header it may belong to another program
        hint = "examine it and move it away, or name another file in agents.defaults.memorySearch.store.path"
        yield Finding("wrong", f"{path} is no index of memoryd, or one whose beginning is damaged", hint)
    elif kind is FileKind.OTHER_VERSION:
        yield Finding("look", f"{path} is of another version", "the next start makes it anew from the notes")
    elif kind is FileKind.EARLIER:
        yield Finding("look", f"{path} is of the previous version", "the next start of memoryd brings it to this one")
    elif problems := file.problems(is_whole=examination.is_deep):
        remedy = _rebuild(file, examination)
        way = "memoryctl doctor --fix has it made" if remedy else "restart memoryd, which makes it"
        hint = f"nothing is lost: {way} anew from the notes"
        yield Finding("wrong", f"{path} is damaged: {'; '.join(problems)}", hint, remedy)
    else:
        yield Finding("ok", f"{path} is sound")


def _rebuild(file: IndexFile, examination: CheckContext) -> Remedy | None:
    if examination.status is not None:
        return _read_again(examination)
    if file.is_used:
        # the process that has it open does not answer, and would continue to write to the renamed file
        return None

    def act() -> str:
        # checked again: a daemon may have started since the check
        if examination.is_in_use:
            raise NotNow("memoryd has been started in between", hint="run memoryctl doctor --fix again")
        set_aside(file.path)
        return f"{file.path} is set aside as {file.path.name}.corrupt-…; memoryd makes a new one when it starts"

    return Remedy(f"set {file.path} aside, for memoryd to make a new one", act)


def _read_again(examination: CheckContext) -> Remedy:
    def act() -> str:
        with examination.invocation.client() as client:
            pending = client.reindex(force=True)
        return f"memoryd reads all notes again: {count(pending['pendingFiles'], 'file')} to go"

    return Remedy("have memoryd read all notes again (memoryctl reindex --force)", act)


def _disk_finding(agent: Agent, examination: CheckContext) -> Finding:
    chance = random.Random()
    trouble = _catch_up(agent, examination)
    compared, differing = differences(agent, examination, chance)
    if differing and examination.status is not None:
        # a note may have been saved between the two readings
        _catch_up(agent, examination)
        compared, differing = differences(agent, examination, chance)
    if not differing:
        return Finding("ok", f"{count(compared, 'note')} compared, none differs")
    if examination.status is None:
        return Finding("look", f"changed while memoryd did not run: {differing}", "start memoryd: it catches up")
    hint = "memoryctl sync catches up; memoryctl reindex --force reads all notes again"
    return Finding("wrong", f"{differing}{trouble and f' ({trouble})'}", hint, _read_again(examination))


def _catch_up(agent: Agent, examination: CheckContext) -> str:
    """Make the daemon read saved notes; return why it did not finish, empty if it did or does not run."""
    if examination.status is None:
        return ""
    with examination.invocation.client() as client:
        reply = client.sync(timeout_ms=int(SYNC_SECONDS * 1000), agent=agent.id)
    return "" if reply["complete"] else reply["reason"] or "memoryd has not caught up in time"


def _is_same_as_daemon(agent: Agent, examination: CheckContext) -> bool:
    """Return whether a running daemon uses the same folders and index for this agent: its flags may name others."""
    if examination.status is None:
        return True
    roots, _ = _roots(agent, examination.config)
    configured = {str(root.path) for root in roots}
    return any(
        other["id"] == agent.id
        and Path(other["database"]["path"]) == agent.index_path
        and all(root["path"] in configured for root in other["roots"])
        for other in examination.status["agents"]
    )


def _may_be_indexed(base: Path, relative: str) -> bool:
    """Return whether a note can be read and does not declare itself private."""
    try:
        return not is_private_file(base, relative, follow_symlinks=True)
    except OSError:
        return False


def _digest(path: Path) -> bytes | None:
    """Return the SHA-256 of a file, None if it cannot be read, which another check reports."""
    try:
        with path.open("rb") as stream:
            return file_digest(stream, "sha256").digest()
    except OSError:
        return None


def name_some(paths: Sequence[str]) -> str:
    """Return the first `MAX_SHOWN` paths as text, and how many more there are."""
    shown = ", ".join(printable_name(RelativePath(path)) for path in islice(paths, MAX_SHOWN))
    return shown + (f" and {len(paths) - MAX_SHOWN:,} more" if len(paths) > MAX_SHOWN else "")


LARGE_BYTES = 256 * 2**20
"""A ledger never needs more, because its rows are limited."""


@check(
    "ledger.sound",
    "ledger",
    advice="the daemon sets a damaged ledger aside when it starts; the ledger of a newer memoryd needs that version",
    seconds=60,
)
def ledger(examination: CheckContext) -> Findings:
    """Check pages and version of the ledger, and whether there are damaged ledgers beside it."""
    for agent in {agent.ledger_path: agent for agent in examination.agents}.values():
        yield from with_part(
            f"ledger of {agent.id}", *_ledger_findings(agent.ledger_path, is_used=examination.is_in_use)
        )


def _ledger_findings(path: Path, *, is_used: bool) -> Findings:
    if not path.exists():
        yield Finding("off", f"{path} is not made yet", "memoryd makes it when it first writes to it")
        return
    advice = "keep a copy of it, then restart memoryd: it is set aside, never deleted, and a new one is begun"
    try:
        state = ledger_state(path, is_used=is_used)
    except ForeignDatabase as exc:
        yield Finding("wrong", str(exc), exc.hint)
        return
    except StoreError as exc:
        yield Finding("wrong", f"{path}: {exc}", advice)
        return
    if state.problems:
        yield Finding("wrong", f"{path} is damaged: {'; '.join(state.problems)}", advice)
    elif state.version > state.newest:
        message = f"{path} is of a newer memoryd (version {state.version}; this one knows {state.newest})"
        yield Finding("wrong", message, "run the memoryd that wrote it, or a newer one; nothing was changed")
    elif state.version < state.newest:
        message = f"{path} is of version {state.version}, of {state.newest}"
        yield Finding("look", message, "the next start brings it up to date, and keeps a copy")
    elif state.bytes > LARGE_BYTES:
        yield Finding("look", f"{path} takes {size(state.bytes)}", "see what it holds: memoryctl status")
    else:
        yield Finding("ok", f"version {state.version}, {size(state.bytes)}: {path}")
    for old in state.set_aside:
        yield Finding("look", f"there is a damaged ledger at {old}", "examine it, then delete it")


@check(
    "replaced.kept",
    "replaced",
    advice="when all is well, remove the folder `replaced` of the state folder",
    needs_config=False,
)
def replaced(_examination: CheckContext) -> Findings:
    """Check for a restore that was cut short, and copies of files that a restore replaced: their size and age."""
    for unfinished, plan in interrupted(state_dir()):
        if plan is not None:
            way = f"start memoryd, which finishes it; until then {unfinished} has the only copy of what is missing"
            yield Finding("wrong", f"a {plan.what} was cut short, so that some files are new and some old", way)
            return
    if (folder := replaced_folder(state_dir())) is None:
        yield Finding("off", "there are no copies of replaced files")
        return
    copies = [copy for copy in folder.iterdir() if copy.is_dir()]
    oldest = duration(max(0.0, time.time() - min(copy.stat().st_mtime for copy in copies)))
    content = sum((Path(parent) / name).lstat().st_size for parent, _, names in os.walk(folder) for name in names)
    message = (
        f"{folder} has {count(len(copies), 'copy', 'copies')} of files that a restore replaced, {size(content)}, "
        f"the oldest {oldest} old; text that was forgotten since may be in them"
    )
    yield Finding("look", message, f"if all is well: rm -r {shlex.quote(str(folder))}")


@check(
    "notes.indexed",
    "notes",
    advice="name the folder in `agents.defaults.workspace`, and other places in `memorySearch.extraPaths`",
)
def notes(examination: CheckContext) -> Findings:
    """Check whether there is a workspace, and whether it has notes in places that are not indexed."""
    # the status is preferred to the configuration, because the daemon may have been started with --all
    if examination.status is not None:
        for reported in examination.status["agents"]:
            counted = reported.get("outside")
            outside = OutsideCount(counted["files"], is_more=counted["more"]) if counted else OutsideCount()
            yield from _note_findings(reported["id"], Path(reported["workspace"]), reported["files"], outside)
        return
    for agent in examination.agents:
        roots, rules = _roots(agent, examination.config)
        seen = scan(roots, rules)
        yield from _note_findings(agent.id, agent.workspace, len(seen.files), count_outside(seen, rules))


def _note_findings(agent: str, workspace: Path, files: int, outside: OutsideCount) -> Findings:
    message = f"{count(files, 'note')} in {workspace}"
    if not workspace.is_dir():
        hint = (
            "mount or make it, name another folder (memoryctl init asks for it), or start memoryd with --workspace DIR"
        )
        finding = Finding("wrong", f"there is no folder {workspace}", hint)
    elif not outside.files:
        finding = Finding("ok", message)
    else:
        finding = Finding("ok" if files else "wrong", f"{message}; {outside} in other places not indexed", INDEX_ALL)
    yield from with_part(f"notes of {agent}", finding)


@check(
    "notes.ignored",
    "ignored",
    advice="write a path relative to the workspace, without list markers: `memory/letters/`",
)
def ignored(examination: CheckContext) -> Findings:
    """Check whether each path that `.memoryignore` names exists."""
    for workspace in {agent.workspace: None for agent in examination.agents}:
        try:
            text = (workspace / IGNORE_FILE).read_text("utf-8")
        except (OSError, ValueError):
            # a file that cannot be read stops indexing, which the status of the daemon reports
            continue
        paths = list(islice(_below(workspace), MAX_PATHS))
        for number, line in enumerate(text.splitlines(), 1):
            is_path = len(paths) < MAX_PATHS and line.strip() and not line.startswith(("#", "!")) and not is_glob(line)
            if is_path and not any(map(patterns_of(workspace, [line]).hides, paths)):
                shown = printable_name(RelativePath(line.strip()))
                yield Finding("look", f"line {number} of {workspace / IGNORE_FILE} hides nothing: {shown}")


@check(
    "notes.conflicts", "notes", advice="`memoryctl conflicts` shows how the versions differ, and settles the conflict"
)
def conflicts(examination: CheckContext) -> Findings:
    """Check for notes that a folder synchroniser or git left in two versions."""
    for agent in examination.agents:
        roots, rules = _roots(agent, examination.config)
        seen = scan(roots, rules)
        copies, paths = list(count_outside(seen, rules).copies), seen.files.keys()
        pairs = {path: original for path in sorted(paths) if (original := possible_original_of(path, paths))}
        compared, marked, lines = {*pairs, *pairs.values()}, [], dict[str, frozenset[bytes]]()
        for path, data in _documents(agent, examination.config, lambda path: not is_outside(path)):
            if is_conflict_copy(path):
                copies.append(path)
            if any(marked_conflicts(data)):
                marked.append(path)
            if path in compared:
                lines[path] = frozenset(filter(None, map(bytes.strip, data.split(b"\n"))))
        messages = [
            f"{printable_name(path)} is another version of {printable_name(original_of(path))}" for path in copies
        ]
        messages += [f"{printable_name(path)} has both versions between the marks of git" for path in marked]
        messages += [
            f"{printable_name(path)} says much the same as {printable_name(original)}: if iCloud or OneDrive made it "
            "of a conflict, move what it adds to that note and delete it"
            for path, original in pairs.items()
            if _are_similar(lines.get(path, frozenset()), lines.get(original, frozenset()))
        ]
        findings = [Finding("look", message, "memoryctl conflicts") for message in messages[:MOST_NOTES]]
        if len(messages) > MOST_NOTES:
            findings.append(Finding("look", f"{len(messages) - MOST_NOTES:,} more conflicts like these"))
        yield from with_part(f"notes of {agent.id}", *findings or [Finding("ok", "no note has two versions")])


def _are_similar(lines: frozenset[bytes], others: frozenset[bytes]) -> bool:
    """Return True if two notes share more lines than differ."""
    return len(lines & others) > len(lines ^ others)


def _below(workspace: Path) -> Iterator[str]:
    """Yield the paths of files and folders below a workspace, folders with a `/` at the end; `.git` is left out."""
    for folder, folders, files in os.walk(workspace):
        at = Path(folder).relative_to(workspace)
        folders[:] = [name for name in folders if name != ".git"]
        yield from (f"{at / name}/" for name in folders)
        yield from (str(at / name) for name in files)


MAX_PATHS = 20_000
MOST_NOTES = 10
"""Findings shown for one agent; the next run shows the rest after these are corrected."""
_HINT = "it is found by its words only, like any text; docs/how-to/memories.md says how a memory is written"
_STRAY_HINT = "move it after the kind; docs/how-to/memories.md says how a memory is written"


@check(
    "memories.written",
    "memories",
    advice="correct the line: `docs/how-to/memories.md` says how a memory is written, and"
    " `docs/explanation/why-recalled.md` why one is recalled, or is not",
)
def memories(examination: CheckContext) -> Findings:
    """Check retained lines and pages for lines that look like a memory but are none, or have attributes as text."""
    for agent in examination.agents:
        yield from with_part(f"memories of {agent.id}", *_memory_findings(agent, examination.config))


def _memory_findings(agent: Agent, config: Config) -> Findings:
    if not agent.workspace.is_dir():
        return
    stated, malformed = 0, []
    for path, data in _documents(agent, config, is_of_memories):
        sections = memory_sections(data, path)
        stated += len(sections.lines)
        malformed += [(path, miss, _HINT if miss.text else "") for miss in sections.misses]
        malformed += [(path, stray, _STRAY_HINT) for stray in strays_in(sections)]
    message = f"{count(stated, 'line')} state{'s' if stated == 1 else ''} a memory"
    yield Finding("ok", message, "docs/explanation/why-recalled.md says why a memory is recalled or not")
    for path, line, hint in malformed[:MOST_NOTES]:
        text = f": {line.text}" if line.text else ""
        yield Finding("look", f"{printable_name(path)}#L{line.line}: {line.reason}{text}", hint)
    if len(malformed) > MOST_NOTES:
        yield Finding("look", f"{len(malformed) - MOST_NOTES:,} more lines like these")


def _documents(
    agent: Agent, config: Config, is_selected: Callable[[RelativePath], bool]
) -> Iterator[tuple[RelativePath, bytes]]:
    """Yield the selected documents with their content, except those that declare themselves private."""
    roots, rules = _roots(agent, config)
    for path in sorted(filter(is_selected, scan(roots, rules).files)):
        try:
            content = read_snapshot(
                Path(rules.workspace), path, max_bytes=rules.max_file_bytes, follow_symlinks=rules.follow_symlinks
            )
        except (OSError, NotReadableError, TornReadError):
            # permissions.notes reports notes that cannot be read
            continue
        data, _ = utf8_of(content)
        if not why_private(data):
            yield path, data
