"""The commands that a user gives in a message, carried out without a model: remember, recall, compact."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memoryd.agents.recall import RecallOptions
from memoryd.agents.retained import Retained
from memoryd.agents.turn_values import CommandOutcome
from memoryd.domain.access import Admitted
from memoryd.domain.memories.attributes import Provenance
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.statements import REMEMBERED_IMPORTANCE, StatedText
from memoryd.domain.memories.verification import cite
from memoryd.domain.sessions.commands import CommandName, SpokenCommand
from memoryd.domain.sessions.harmless_text import harmless_text
from memoryd.memory.recall.recalled import Recalled, RecalledMemory

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
    most: int

    async def run(self, command: SpokenCommand, admitted: Admitted, *, own_channel: str) -> CommandOutcome:
        """Carry a command out; raises what retaining and recalling do, Denied where nothing may be written."""
        if command.name is CommandName.REMEMBER:
            return await self._remember(command.text, admitted, own_channel)
        return await self._recall(command.text, admitted)

    async def _remember(self, text: str, admitted: Admitted, own_channel: str) -> CommandOutcome:
        if not text:
            return CommandOutcome(CommandName.REMEMBER, NOTHING_TO_REMEMBER)
        said = StatedText(
            text=text,
            usual_kind=Kind.NOTE,
            usual_importance=REMEMBERED_IMPORTANCE,
            scope=f"agent:{self.agent}:{own_channel}" if own_channel else "",
            provenance=Provenance.USER,
        )
        done = await self.retained.retaining.retain(said, admitted)
        retention = done.retention
        told = "Remembered" if any(retention.added) else "Remembered already"
        places = ", ".join(f"{retention.path}#L{one.start_line}" for one in retention.placed)
        text = "\n".join([f"{told}: {places}", *done.notes])
        return CommandOutcome(CommandName.REMEMBER, text, tuple(one.line.id for one in retention.placed))

    async def _recall(self, text: str, admitted: Admitted) -> CommandOutcome:
        if not text:
            return CommandOutcome(CommandName.RECALL, NOTHING_TO_RECALL)
        found = (await self.retained.recall.recall(text, RecallOptions(k=self.most), admitted)).recalled
        memories = tuple(item.memory.id for item in found.items if isinstance(item, RecalledMemory))
        return CommandOutcome(CommandName.RECALL, "\n".join(_told(found)) or NOTHING_FOUND, memories)


def _told(found: Recalled) -> Sequence[str]:
    """Return what was found, a line for each: what it says and where it stands."""
    lines = [f"{page.name}: {_line(page.summary)} ({page.path})" for page in found.entities]
    for item in found.items:
        if isinstance(item, RecalledMemory):
            lines.append(f"{_line(item.memory.line.text)} ({cite(item.lead.source)})")
        else:
            lines.append(f"{_line(item.hit.snippet.text)} ({item.hit.citation})")
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def _line(text: str) -> str:
    whole = " ".join(harmless_text(text).split())
    return whole if len(whole) <= _SHOWN else f"{whole[: _SHOWN - 1]}…"
