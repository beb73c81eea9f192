"""The part of `memoryctl doctor` about memories: what was meant for one in the notes and is none, and why."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.cli.terminal import count
from memoryd.config.agents import Agent
from memoryd.config.root import Config
from memoryd.domain.documents import RelativePath, printable_name
from memoryd.domain.memories.sections import PlacedMiss, is_of_memories, memory_sections
from memoryd.files.ignore import why_private
from memoryd.files.reading import NotReadableError, TornReadError, read_octets, utf8_of
from memoryd.files.roots import roots_and_rules
from memoryd.files.scanner import scan

MOST_SHOWN: Final = 10
"""Of one agent: who mends these asks again."""
_HINT: Final = "it is found by its words alone, as any text; docs/how-to/memories.md says how a memory is written"


def memories(examination: Examination) -> Iterator[Finding]:
    """Read the logs and pages of every agent as they are on disk. Asks nobody, and changes nothing."""
    for agent in examination.config.resolved_agents():
        yield from _of(agent, examination.config)


def _of(agent: Agent, config: Config) -> Iterator[Finding]:
    part = f"memories of {agent.id}"
    if not agent.workspace.is_dir():
        return
    stated, missed = 0, []
    for path, data in _documents(agent, config):
        sections = memory_sections(data, path)
        stated += len(sections.lines)
        missed += [(path, miss) for miss in sections.misses]
    yield Finding(part, "ok", f"{count(stated, 'line')} state{'s' if stated == 1 else ''} a memory")
    for path, miss in islice(missed, MOST_SHOWN):
        yield Finding(part, "look", _said(path, miss), _HINT if miss.miss.text else "")
    if len(missed) > MOST_SHOWN:
        yield Finding(part, "look", f"{len(missed) - MOST_SHOWN:,} more lines like these")


def _documents(agent: Agent, config: Config) -> Iterator[tuple[RelativePath, bytes]]:
    """Yield the documents that may hold memories; one that says of itself that it is private is left out."""
    roots, rules = roots_and_rules(agent, max_file_bytes=config.limits.max_file_bytes)
    for path in sorted(filter(is_of_memories, scan(roots, rules).files)):
        try:
            octets = read_octets(
                Path(rules.workspace), path, max_bytes=rules.max_file_bytes, follow_symlinks=rules.follow_symlinks
            )
        except (OSError, NotReadableError, TornReadError):
            # what cannot be read is told by the part about the notes
            continue
        data, _ = utf8_of(octets)
        if not why_private(data):
            yield path, data


def _said(path: RelativePath, placed: PlacedMiss) -> str:
    shown = f": {placed.miss.text}" if placed.miss.text else ""
    return f"{printable_name(path)}#L{placed.line}: {placed.miss.reason}{shown}"


LOOKS: Looks = {"memories.written": memories}
