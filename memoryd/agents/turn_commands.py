"""The commands that a user gives in a message, carried out without a model: remember, recall, compact."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memoryd.agents.recall import RecallOptions
from memoryd.agents.retained import Retained
from memoryd.agents.session_memories import SessionMemories
from memoryd.agents.turn_capture import texts_of
from memoryd.agents.turn_values import CommandOutcome
from memoryd.domain.access import Admitted
from memoryd.domain.memories.changes.verification import cite
from memoryd.domain.memories.edits import REMEMBERED_IMPORTANCE, StatedText
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import Provenance, RetainedLine, parse_line
from memoryd.domain.sessions.commands import CommandName, SpokenCommand
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.memory.recall.query import Recalled, RecalledMemory

_SHOWN: Final = 400
"""Characters of a hit."""
NOTHING_TO_REMEMBER: Final = "Nothing was remembered: say what, as in /remember I take my coffee black."
NOTHING_TO_RECALL: Final = "Nothing was looked for: say what, as in /recall which coffee do I take?"
NOTHING_FOUND: Final = "Nothing was found."


@dataclass(frozen=True, slots=True)
class TurnCommands:
    """The commands of one agent. `most` is how many hits are told."""

    agent: str
    retained: Retained
    sessions: SessionMemories
    most: int

    async def run(
        self, command: SpokenCommand, admitted: Admitted, key: str, *, scope: str
    ) -> tuple[CommandOutcome, Sequence[str]]:
        """Carry a command out, and return also the texts of the memory that it tells.

        `scope` is whom a memory is for that names nobody. Raises what retaining and recalling do, Denied where
        nothing may be written.
        """
        if command.name is CommandName.REMEMBER:
            return await self._remember(command.text, admitted, scope), ()
        if command.name is CommandName.COMPACT:
            return await self.compact(key), ()
        return await self._recall(command.text, admitted)

    async def compact(self, key: str) -> CommandOutcome:
        """Sum up the session of a key; raises Denied where nothing may be written, StoreError, NotNow."""
        done = await self.sessions.compact(key)
        if done.retention is None:
            return CommandOutcome(CommandName.COMPACT, done.remark)
        placed = done.retention.placed[0]
        told = "Summed up" if any(done.retention.added) else "Summed up already"
        where = f"{told}: {done.retention.path}#L{placed.start_line}"
        text = "\n".join(filter(None, [where, done.text, done.remark]))
        return CommandOutcome(CommandName.COMPACT, text, (placed.line.id,))

    async def _remember(self, text: str, admitted: Admitted, scope: str) -> CommandOutcome:
        if not text:
            return CommandOutcome(CommandName.REMEMBER, NOTHING_TO_REMEMBER)
        said = StatedText(
            text=text,
            usual_kind=Kind.NOTE,
            usual_importance=REMEMBERED_IMPORTANCE,
            scope="" if _has_scope(text) else scope,
            provenance=Provenance.USER,
        )
        done = await self.retained.retaining.retain(said, admitted)
        retention = done.retention
        told = "Remembered" if any(retention.added) else "Remembered already"
        places = ", ".join(f"{retention.path}#L{one.start_line}" for one in retention.placed)
        text = "\n".join([f"{told}: {places}", *done.notes])
        return CommandOutcome(CommandName.REMEMBER, text, tuple(one.line.id for one in retention.placed))

    async def _recall(self, text: str, admitted: Admitted) -> tuple[CommandOutcome, Sequence[str]]:
        if not text:
            return CommandOutcome(CommandName.RECALL, NOTHING_TO_RECALL), ()
        options = RecallOptions(k=self.most, is_told_to_all=True)
        found = (await self.retained.recall.recall(text, options, admitted)).recalled
        memories = tuple(item.memory.id for item in found.items if isinstance(item, RecalledMemory))
        told = "\n".join(_told(found)) or NOTHING_FOUND
        return CommandOutcome(CommandName.RECALL, told, memories), list(texts_of(found))


def _told(found: Recalled) -> Sequence[str]:
    """Return what was found, a line for each: what it says and where it stands."""
    lines = [f"{page.name}: {_line(page.summary)} ({page.path})" for page in found.entities]
    for item in found.items:
        if isinstance(item, RecalledMemory):
            lines.append(f"{_line(item.memory.line.text)} ({cite(item.lead.source)})")
        else:
            lines.append(f"{_line(item.hit.snippet.text)} ({item.hit.citation})")
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def _has_scope(text: str) -> bool:
    line = parse_line(text)
    return isinstance(line, RetainedLine) and bool(line.attributes.scope)


def _line(text: str) -> str:
    whole = " ".join(harmless_text(text).split())
    return whole if len(whole) <= _SHOWN else f"{whole[: _SHOWN - 1]}…"
