"""Export of an agent's memories, and import of memories and of notes from other programs; for its owner only."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.retained.documents import AgentDocuments
from memoryd.agents.retained.retaining import AgentRetaining
from memoryd.agents.search import check_scope
from memoryd.domain.access import Admitted
from memoryd.domain.documents import IMPORTED, RelativePath
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.changes.tombstones import Tombstones
from memoryd.domain.memories.documents import TransferPage, export_page, missing_days
from memoryd.domain.memories.edits import (
    NoPlaceError,
    StatementSource,
    add_memories,
    admitted_scope,
    missing_properties,
)
from memoryd.domain.memories.kinds import TEAM, MemoryId, Visibility, WrittenBy
from memoryd.domain.memories.line import RetainedLine, is_of_session
from memoryd.domain.redaction import secrets_in
from memoryd.errors import InvalidRequest, TooLarge
from memoryd.replies.memories import ImportReply, TakenMemoryReply

_SECRET = "it holds what looks like a secret; --with-secrets imports it, too"
_EXISTS = "another text is there: undo the import that wrote it, or move that note away"
_INVISIBLE = expression(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class TakeOptions(Struct, frozen=True):
    """Options of an import; all of its changes get the same `run`."""

    run: str
    is_dry_run: bool = False
    takes_secrets: bool = False


def _new_note(before: str | None, *, text: str) -> str:
    if before not in (None, text):
        raise InvalidRequest(_EXISTS)
    return text


class AgentTransfer(Struct, frozen=True, kw_only=True):
    """Exports and imports memories. `today` returns the owner's day."""

    documents: AgentDocuments
    retaining: AgentRetaining
    today: Callable[[], date]

    async def page(self, cursor: str, limit: int, scope: str, admitted: Admitted) -> TransferPage:
        """Return visible memories after a cursor, by the day on which they were first stated."""
        check_scope(scope)
        visibility, book = self.documents.recall.visibility(admitted), await self.documents.now()

        def admits(memory: Memory) -> bool:
            own = memory.scope
            # memories that others share are theirs to export
            return own != TEAM and visibility.admits(own) and scope in ("", self.documents.shown_scope(own))

        return await asyncio.to_thread(export_page, book, admits, cursor, limit)

    async def take(
        self, lines: Sequence[RetainedLine | str], days: Sequence[Sequence[date]], options: TakeOptions
    ) -> ImportReply:
        """State memories on the days on which they were stated before; existing lines are left unchanged.

        An item that is a string is the reason why a line is refused. Raises Denied if `memory.readOnly` is set,
        StoreError.
        """
        takes_secrets = options.takes_secrets
        book, tombstones = await self.documents.now(), await self.retaining.tombstones.all()
        replies: list[TakenMemoryReply] = []
        stated: dict[MemoryId, tuple[RetainedLine, set[date]]] = {}
        pending: defaultdict[date, list[tuple[TakenMemoryReply, RetainedLine]]] = defaultdict(list)
        judgements = await asyncio.to_thread(
            lambda: [self._judge(line, book, tombstones, takes_secrets=takes_secrets) for line in lines]
        )
        for line_days, judgement in zip(days, judgements, strict=True):
            if isinstance(judgement, RetainedLine):
                known = book.memories.get(judgement.id)
                # of a line given twice, the first is stated, as in two imports
                first, taken = stated.setdefault(judgement.id, (judgement if known is None else known.line, set()))
                candidates = missing_days(line_days, known, self.today()) if line_days or not taken else ()
                missing = [day for day in candidates if day not in taken]
                taken.update(missing)
                reply = _taken_reply(judgement, first, is_new=bool(missing))
                for day in missing:
                    pending[day].append((reply, judgement))
            else:
                reply = judgement
            replies.append(reply)
        await asyncio.to_thread(self._refuse_unfit, pending)
        with self.retaining.retaining.journal.batched_notifications():
            changes = [] if options.is_dry_run else await self._write(pending, options.run)
        return ImportReply(memories=replies, notes=[], changes=changes)

    async def take_notes(self, notes: Sequence[tuple[RelativePath, str]], options: TakeOptions) -> ImportReply:
        """Write notes below `memory/imported/`; existing notes are left unchanged. Raises what `take` does."""
        tombstones, journal = await self.retaining.tombstones.all(), self.retaining.retaining.journal
        replies, changes = list[TakenMemoryReply](), list[int]()
        with journal.batched_notifications():
            for path, content in notes:
                text = content.removeprefix("\ufeff").replace("\r\n", "\n")
                try:
                    taken = await self._judge_note(path, text, tombstones, options)
                    if taken["outcome"] == "added" and not options.is_dry_run:
                        write = partial(_new_note, text=text)
                        made = await journal.change(
                            path,
                            write,
                            by=WrittenBy.IMPORT,
                            why="a note of another program was brought here",
                            run=options.run,
                        )
                        changes += [made.id] if made.id else []
                except (InvalidRequest, TooLarge) as exc:
                    taken = _refusal(path, str(exc))
                replies.append(taken)
        return ImportReply(memories=[], notes=replies, changes=changes)

    async def _judge_note(
        self, path: RelativePath, text: str, tombstones: Tombstones, options: TakeOptions
    ) -> TakenMemoryReply:
        """Return the outcome for a note; raises InvalidRequest and TooLarge for one that may not be written."""
        if not path.startswith(IMPORTED) or ".." in path.split("/"):
            raise InvalidRequest(f"{path!r} is no path below {IMPORTED}")
        if await asyncio.to_thread(tombstones.contains_part_of, text):
            return _refusal(path, "it holds what was forgotten here")
        if _INVISIBLE.search(path):
            return _refusal(path, "its name contains invisible characters, such as a line break")
        if not options.takes_secrets and await asyncio.to_thread(lambda: any(map(secrets_in, (path, text)))):
            return _refusal(path, _SECRET)
        before = await self.retaining.retaining.journal.read(path)
        if before.text not in (None, text):
            return _refusal(path, _EXISTS)
        if "\0" in text:
            return _refusal(path, "it holds a byte that no text has")
        # refuse what could not be written on a dry run, too
        self.retaining.retaining.journal.files.encode(before, text)
        return TakenMemoryReply(outcome="added" if before.text is None else "known", id=path, reason="")

    def _judge(
        self, line: RetainedLine | str, book: Book, tombstones: Tombstones, *, takes_secrets: bool
    ) -> RetainedLine | TakenMemoryReply:
        """Return the line of a memory, or the reason why it is refused."""
        if isinstance(line, str):
            return _refusal("", line)
        try:
            if is_of_session(line):
                # as forgetting leaves such lines
                line = replace(line, text=tombstones.cut_from(line.text))
            admitted_scope(line.attributes.scope, StatementSource(self.retaining.agent))
        except ValueError as exc:
            return _refusal("", str(exc))
        if not Visibility(self.retaining.agent, is_owner=True).admits(line.attributes.scope):
            return _refusal(line.id, "it is for another agent alone; import it as that one, with --agent")
        if tombstones.contains(line.id, line.text) or (
            line.id not in book.memories and tombstones.contains_part_of(line.text)
        ):
            return _refusal(line.id, "it was forgotten here, and is not brought back; memoryctl retain states it again")
        if secrets_in(line.text) and not takes_secrets:
            return _refusal(line.id, _SECRET)
        return line

    def _refuse_unfit(self, pending: defaultdict[date, list[tuple[TakenMemoryReply, RetainedLine]]]) -> None:
        """Remove lines that no log could state; otherwise all lines of their day would be refused."""
        for day in list(pending):
            unfit = _without_place([line for _, line in pending[day]], self.retaining.retaining.log(day))
            for reply, line in pending[day]:
                if line.id in unfit:
                    reply.update(_refusal(line.id, unfit[line.id]))
            pending[day] = [(reply, line) for reply, line in pending[day] if line.id not in unfit]
            if not pending[day]:
                del pending[day]

    async def _write(
        self, pending: Mapping[date, Sequence[tuple[TakenMemoryReply, RetainedLine]]], run: str
    ) -> list[int]:
        """Write the memories of each day at once, the earliest day first; refuse lines that have no place."""
        changes, stated = [], set[str]()
        for day in sorted(pending):
            replies, lines = zip(*pending[day], strict=True)
            try:
                done = await self.retaining.retaining.retain(lines, by=WrittenBy.IMPORT, day=day, run=run)
            except InvalidRequest as exc:
                for reply in replies:
                    # it may be in the log of an earlier day
                    refusal = _refusal(reply["id"], str(exc))
                    reply.update({**refusal, "outcome": "added"} if reply["id"] in stated else refusal)
                continue
            if done.change.id:
                changes.append(done.change.id)
            if done.change.is_written:
                stated.update(reply["id"] for reply in replies)
            for reply in replies:
                reply["outcome"] = "added" if reply["id"] in stated else "known"
        return changes


def _without_place(lines: Sequence[RetainedLine], path: RelativePath) -> dict[MemoryId, str]:
    """Return the memories that no log could state, with the reason."""
    try:
        add_memories("", path, lines)
    except NoPlaceError as exc:
        if len(lines) == 1:
            return {lines[0].id: str(exc)}
        middle = len(lines) // 2
        return _without_place(lines[:middle], path) | _without_place(lines[middle:], path)
    return {}


def _refusal(memory: str, reason: str) -> TakenMemoryReply:
    return TakenMemoryReply(outcome="refused", id=memory, reason=reason)


def _taken_reply(line: RetainedLine, known: RetainedLine, *, is_new: bool) -> TakenMemoryReply:
    """Return the reply about a line that is new or exists already, with its ignored attributes."""
    keys = () if is_new else missing_properties(line, known)
    reason = f"{', '.join(keys)} of the existing line stays unchanged" if keys else ""
    return TakenMemoryReply(outcome="added" if is_new else "known", id=line.id, reason=reason)
