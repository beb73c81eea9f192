"""What an agent, or the owner, states to be retained: who may say it for whom, and what is kept of the text."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.retained.core import LESS_IMPORTANT, CoreRights
from memoryd.agents.search import is_searchable
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.domain.access import Admitted
from memoryd.domain.memories.edits import StatedText, Stater, admitted_scope, each_statement, not_taken, stated_line
from memoryd.domain.memories.line import Provenance, RetainedLine
from memoryd.domain.redaction import secrets_in
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.sanitizing import harmless_text, visible_text
from memoryd.errors import Denied, InvalidRequest, TooLarge
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.memory.retaining import Retaining, Retention
from memoryd.wire import MEMORIES_MAX, MEMORY_CHARS_MAX

SECRET_KEPT: Final = "it holds what looks like a secret, which is kept as it was said"
SECRET_MASKED: Final = "what looks like a secret was masked"
RELEASED: Final = "it had been forgotten, and is remembered again"
UNSEEN: Final = "signs that nobody sees were taken out"
_KIND_HINT: Final = "write a bullet as `W @Peter: text`, or give the kind beside plain text"
_FROM_HINT: Final = "state it without `from`; who said it is noted by itself"


class RetainOutcome(Struct, frozen=True):
    """What was retained, whether it is found by words already, and what who stated it should know."""

    retention: Retention
    is_searchable: bool
    notes: tuple[str, ...]


class AgentRetaining(Struct, frozen=True, kw_only=True):
    """Retains for one agent."""

    agent: str
    rights: CoreRights
    retaining: Retaining
    index: WorkspaceIndex
    tombstones: TombstoneStore

    async def retain(self, said: StatedText, admitted: Admitted, *, each: bool = False) -> RetainOutcome:
        """State a memory; with `each` every bullet of the text is one.

        What a session states is for its agent alone, noted as from the agent unless its user says it, and never by an
        agent's socket; secrets in it are masked, and nothing of it is core. What the owner states is kept as it was
        said. What was forgotten the owner alone states again. Raises InvalidRequest, TooLarge, Denied, and what
        `Retaining.retain` does.
        """
        stater = Stater(self.agent, admitted.channel, is_owner=admitted.is_owner)
        texts = each_statement(said.text) if each else [said.text]
        if len(texts) > MEMORIES_MAX:
            raise TooLarge(f"{len(texts)} memories at once; {MEMORIES_MAX} is the most", hint="send them in parts")
        if admitted.is_sandboxed:
            said = replace(said, provenance=Provenance.AGENT)
        kept = [_kept(text, stater) for text in texts]
        wanted = [_line(replace(said, text=text), stater) for text, _ in kept]
        lines = [self.rights.stated(line, is_owner=stater.is_owner) for line in wanted]
        notes = tuple(dict.fromkeys(note for _, each_notes in kept for note in each_notes))
        if lines != wanted:
            notes = (*notes, LESS_IMPORTANT.format(self.rights.most_importance))
        notes = (*notes, *await self._released(lines, stater))
        retention = await self.retaining.retain(lines, agent="" if stater.is_owner else self.agent)
        notes = (*notes, *_untaken(lines, retention))
        if retention.change.note:
            notes = (*notes, retention.change.note)
        return RetainOutcome(retention, await is_searchable(self.index), notes)

    async def _released(self, lines: Sequence[RetainedLine], stater: Stater) -> list[str]:
        """Let what is stated be remembered again, if it was forgotten; raises Denied for an agent."""
        stones = await self.tombstones.all()
        forgotten = [line for line in lines if stones.hold(line.id, line.text)]
        if forgotten and not stater.is_owner:
            raise Denied(SkipReason.FORGOTTEN, hint="the owner may state it again, by `memoryctl retain`")
        for line in forgotten:
            await self.tombstones.release(line.id, line.text)
        return [RELEASED] if forgotten else []


def _untaken(lines: Sequence[RetainedLine], retention: Retention) -> list[str]:
    """Say what was not taken because a line states the same otherwise."""
    return [
        f"it stands at {retention.path}#L{placed.start_line} already, and {', '.join(keys)} of that line "
        f"{'stays as it is' if len(keys) == 1 else 'stay as they are'}: edit it to change that"
        for line, placed in zip(lines, retention.placed, strict=True)
        if (keys := not_taken(line, placed.line))
    ]


def _kept(text: str, stater: Stater) -> tuple[str, Sequence[str]]:
    """Return what is kept of a text, and what is to be said of it."""
    if len(text) > MEMORY_CHARS_MAX:
        raise TooLarge(
            f"a memory has at most {MEMORY_CHARS_MAX:,} characters, this has {len(text):,}",
            hint="say it shorter, or write it into a note of its own",
        )
    seen = visible_text(text)
    notes = [UNSEEN] if seen != text.replace("\r\n", "\n").replace("\r", "\n") else []
    if stater.is_owner:
        return seen, [*notes, SECRET_KEPT] if secrets_in(seen) else notes
    masked = harmless_text(text)
    return masked, [*notes, SECRET_MASKED] if masked != seen else notes


def _line(said: StatedText, stater: Stater) -> RetainedLine:
    if not stater.is_owner:
        said = replace(
            said, provenance=said.provenance or Provenance.AGENT, entities=tuple(map(harmless_text, said.entities))
        )
    line, scope = _stated(said, stater)
    if not stater.is_owner and line.attributes.provenance is not said.provenance:
        # else an agent could state what its user never said
        raise Denied("who says it is not for an agent to state", hint=_FROM_HINT)
    return replace(line, attributes=replace(line.attributes, scope=scope))


def _stated(said: StatedText, stater: Stater) -> tuple[RetainedLine, str]:
    """Return the line of a statement, and its scope; raises InvalidRequest."""
    try:
        line = stated_line(said)
        scope = admitted_scope(line.attributes.scope, stater)
    except ValueError as exc:
        raise InvalidRequest(str(exc), hint=_KIND_HINT) from exc
    return line, scope
