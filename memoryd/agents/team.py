"""An agent's part in a team: its owner shares memories, takes them back, and shares notes by their path."""

import asyncio
from collections.abc import Collection, Iterable, Sequence, Set
from functools import partial

from msgspec import Struct

from memoryd.agents.retained.documents import AgentDocuments
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.config.team import TeamSection, without_credentials
from memoryd.domain.access import Admitted
from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import Citation, citation_in, person_of
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.changes.replacing import find_replaced
from memoryd.domain.memories.documents import visible_memories
from memoryd.domain.memories.kinds import ID_PREFIX_CHARS, MemoryId, short_id
from memoryd.domain.memories.line import RetainedLine, render
from memoryd.domain.memories.sections import as_shared
from memoryd.domain.memories.sharing import (
    A_COLLEAGUES,
    REPLACED,
    log_path,
    note_path,
    promoted,
    shareable_ids,
    shared_file,
    shared_names,
    superseded_in,
    why_not_promoted,
)
from memoryd.domain.patterns import matches
from memoryd.errors import Denied, InvalidRequest, MemorydError, NotFound, NotNow, SidecarError, StoreError
from memoryd.memory.book import MemoryCache
from memoryd.memory.journal import Journal
from memoryd.replies.changes import TeamPersonReply, TeamPromoteReply, TeamPublishedReply, TeamReply, TeamRevokeReply
from memoryd.team.sharing import SharedMemory, SharedNotes, TeamSharing, carrier_of

_NAME_HINT = "`memoryctl recall` shows memories with their ids and citations; name one by its id"
_LAST = "what colleagues of team {} or their agents have made of it: a note, an answer, a memory of their own"
SERVER_REACH = (
    "deleted rows and logs of the server of team {}, until it cleans them up, and its backups",
    "what members of team {} copied while they could read it",
    "the machine of a member of team {} who is offline, until it is brought up to date",
    _LAST,
)
REACH = (
    "the history of team {}, from which it was taken back: all who may read the repository find it in older commits",
    "clones and backups of the repository of team {}, until they are brought up to date",
    _LAST,
)
ID_CHARS = 36
_FOLLOW_SECONDS = 10.0


class AgentTeam(Struct, frozen=True, kw_only=True):
    """What one agent shares. Only its owner decides that."""

    agent: str
    section: TeamSection
    documents: AgentDocuments
    index: WorkspaceIndex
    sharing: TeamSharing

    async def promote(self, name: str, admitted: Admitted, *, is_dry_run: bool) -> TeamPromoteReply:
        """Share a memory, named by id or citation; a dry run returns what would be shared.

        Raises NotFound, Denied if the memory must not be shared, InvalidRequest if the owner is not in the team,
        SidecarError.
        """
        book, memory = await self._find_memory(name, admitted)
        older = await asyncio.to_thread(superseded_in, book)
        if why := why_not_promoted(memory, self.agent) or REPLACED * (memory.id in older):
            raise Denied(f"{memory.id[:ID_PREFIX_CHARS]} is not shared: {why}")
        shared = await self.sharing.memories()
        names = shared_names(memory.line, book, shared.keys())
        line, notes = promoted(memory.line, names), list[str]()
        if len(names) < len(memory.line.attributes.supersedes):
            notes.append("what it supersedes is nothing that you share with the team, and is not named there")
        before, changed, sent = shared.get(line.id), False, not self.sharing.carrier.health().pending
        if before is not None:
            notes.append("it is shared already: nothing was changed")
        elif is_dry_run:
            # someone who joined a moment ago is a reader, too
            sent = await self.sharing.send()
        else:
            before, changed = await self.sharing.promote(line, memory.recorded)
            self.index.demand()
            sent = await self.sharing.send()
            notes += [] if sent else [self._waiting_note()]
        place = before.path if before is not None else log_path(self.sharing.person, memory.recorded)
        return TeamPromoteReply(
            id=line.id,
            line=render(line if before is None else before.placed.line),
            author=self.sharing.person,
            readers=list(await self.sharing.carrier.members()),
            citation=place if before is None else _citation_of(before),
            promoted=before is not None,
            changed=changed,
            sent=sent,
            notes=notes,
        )

    async def revoke(self, name: str, admitted: Admitted, *, is_dry_run: bool) -> TeamRevokeReply:
        """Take a memory back, named by id or citation; a dry run returns what would be removed.

        Raises as `promote` does.
        """
        revoked, sent = [await self._find_shared(name, admitted)], False
        if not is_dry_run:
            revoked = await self.sharing.revoke([memory.placed.line.id for memory in revoked])
            self.index.demand()
            sent = await self.sharing.send()
        waits = [] if sent or is_dry_run else [self._waiting_note()]
        return TeamRevokeReply(
            revoked=list(map(_citation_of, revoked)), changed=not is_dry_run, sent=sent, stays=[*waits, *self._reach()]
        )

    async def forget(self, lines: Iterable[RetainedLine], paths: Collection[str], *, is_dry_run: bool) -> list[str]:
        """Take back what was shared of forgotten memories; return sentences that report it.

        What is removed from shared notes is taken back by the next exchange, which is scheduled soon. If memories
        cannot be taken back now, they are forgotten here all the same, and taken back as soon as possible.
        """
        messages = await self.revoke_shared((), paths, is_dry_run=is_dry_run)
        if ids := {promoted(line).id for line in lines}:
            return [*messages, *await self._take_back(ids, is_dry_run=is_dry_run)]
        return [*messages, *(self._reach() if messages else ())]

    async def revoke_shared(
        self, lines: Iterable[RetainedLine], paths: Collection[str], *, is_dry_run: bool
    ) -> list[str]:
        """Schedule an exchange, which takes back what is no longer in the lines and notes.

        Return sentences that report it.

        `lines` are the deleted or replaced lines, and `paths` the notes from which something is deleted.
        """
        published, person = await self.sharing.published(), self.sharing.person
        shared = list[MemoryId]()
        if published:
            shared = await asyncio.to_thread(lambda: [line.id for line in lines if promoted(line).id in published])
        offline = self.sharing.carrier.health().offline
        soon = f"as soon as it can be reached: {offline}" if offline else "within half a minute"
        when = soon if self.section.interval_minutes else "by the next memoryctl team sync"
        team = f"is shared with team {self.section.name}"
        messages = [
            f"{path} {team}: what goes from it is taken back there {when}"
            for path in sorted(set(paths))
            if note_path(person, path) in published
        ]
        messages += [f"{short_id(name)} {team}, and is taken back there {when}" for name in dict.fromkeys(shared)]
        if messages and not is_dry_run:
            self.sharing.exchange_soon()
        return messages

    async def _take_back(self, ids: Set[MemoryId], *, is_dry_run: bool) -> list[str]:
        try:
            if is_dry_run:
                is_shared = not ids.isdisjoint(await self.sharing.memories())
                return [f"it is shared with team {self.section.name}, and is taken back there"] * is_shared
            if not await self.sharing.revoke(ids):
                return []
        except (MemorydError, OSError) as exc:
            may_stay = await self.sharing.queue_revocation(ids, is_dry_run=is_dry_run)
            where = f"it may still be shared with team {self.section.name}"
            return [f"{where}, and is taken back there as soon as that can be done: {exc}"] * may_stay
        waits = [] if await self.sharing.send() else [self._waiting_note()]
        return [*waits, *self._reach()]

    async def sync(self) -> TeamReply:
        """Share the configured notes, and exchange with the other members now.

        Raises SidecarError if something other than an unreachable remote is wrong, for example a missing membership.
        """
        await self.index.follow(_FOLLOW_SECONDS)
        await self.sharing.sync()
        self.index.demand()
        if broken := self.sharing.broken():
            raise SidecarError(broken)
        return self.status()

    def status(self) -> TeamReply:
        """Return the state of the exchange."""
        health = self.sharing.carrier.health()
        return TeamReply(
            name=self.section.name or "",
            person=self.sharing.person,
            remote=without_credentials(self.section.remote or ""),
            people=[TeamPersonReply(name=person, files=files) for person, files in sorted(health.people.items())],
            published=TeamPublishedReply(pending=health.pending, behindSeconds=health.behind_seconds),
            fetchedAt=None if health.fetched_at is None else rfc3339(health.fetched_at),
            pushedAt=None if health.pushed_at is None else rfc3339(health.pushed_at),
            offline=health.offline or None,
            trouble=list(self.sharing.troubles()),
        )

    @property
    def trouble(self) -> str:
        """What impairs the exchange; empty if nothing does."""
        return "; ".join(filter(None, [*self.sharing.troubles(), self.sharing.carrier.health().offline]))

    async def _find_memory(self, name: str, admitted: Admitted) -> tuple[Book, Memory]:
        """Return the book, and the visible memory of an id or a citation. Raises NotFound."""
        # right after a reload the index does not know the lines yet
        await self.index.follow(_FOLLOW_SECONDS)
        book = await self.documents.now()
        known = {memory.id: memory for memory in visible_memories(book, self.documents.recall.visibility(admitted))}
        if len(name) == ID_CHARS and name not in known:
            # by the id that it would have with the team
            of_name = (memory for memory in known.values() if promoted(memory.line).id == name)
            if own := [memory for memory in of_name if why_not_promoted(memory, self.agent) != A_COLLEAGUES]:
                return book, own[0]
        try:
            return book, find_replaced(known, {}, name, is_exact=True).named
        except ValueError as exc:
            raise NotFound(str(exc), hint=_NAME_HINT) from exc

    async def _find_shared(self, name: str, admitted: Admitted) -> SharedMemory:
        """Return a shared memory by its shared id, a citation, or its local name. Raises NotFound, Denied."""
        shared = await self.sharing.memories()
        if (match := _by_id(shared.values(), name) or self._by_citation(shared.values(), name)) is not None:
            return match
        _, memory = await self._find_memory(name, admitted)
        if why_not_promoted(memory, self.agent) == A_COLLEAGUES:
            raise Denied(f"only one's own lines are taken back: {A_COLLEAGUES}", hint="ask who shared it")
        if (match := shared.get(promoted(memory.line).id)) is None:
            raise NotFound(f"you share no memory {name!r} with the team", hint="memoryctl team promote shares one")
        return match

    def _by_citation(self, shared: Collection[SharedMemory], name: str) -> SharedMemory | None:
        if (cited := citation_in(name)) is None:
            return None
        line = cited.start_line or 0
        for memory in shared:
            place = shared_file(memory.path)
            named = (memory.path, f"{self.sharing.person}:{place.shown}" if place else "")
            if cited.path in named and memory.placed.start_line <= line <= memory.placed.end_line:
                return memory
        return None

    def _reach(self) -> list[str]:
        reach = SERVER_REACH if self.section.is_on_server else REACH
        return [sentence.format(self.section.name) for sentence in reach]

    def _waiting_note(self) -> str:
        health = self.sharing.carrier.health()
        reason = health.broken or health.refused or health.offline or "the other side was not reached in time"
        return f"it waits to be sent: {reason}"


def _by_id(shared: Collection[SharedMemory], name: str) -> SharedMemory | None:
    prefix = name.strip().lower()
    # by its id in the repository, or by the id under which others recall it
    candidates = [
        memory
        for memory in shared
        if len(prefix) >= ID_PREFIX_CHARS
        and any(known.id.startswith(prefix) for known in (memory.placed.line, as_shared(memory.placed.line)))
    ]
    return candidates[0] if len(candidates) == 1 else None


def _citation_of(memory: SharedMemory) -> str:
    return str(Citation(memory.path, memory.placed.start_line, memory.placed.end_line))


async def shared_notes(
    agent: str, section: TeamSection, journal: Journal, index: WorkspaceIndex, book: MemoryCache
) -> SharedNotes | None:
    """Return the configured notes with their content on disk, and the ids of the valid memories.

    None while the index does not follow the disk.
    """
    if not index.is_ready or index.hold():
        return None
    named = [path for path in sorted(index.indexer.known_paths) if _is_named(section.share, path)]
    texts, refused = dict[str, str | None](), dict[str, str]()
    for path in named:
        try:
            text = (await journal.read(path, is_shown=True)).text
        except InvalidRequest as exc:
            refused[path] = str(exc)
        except (NotNow, StoreError):
            texts[path] = None
        else:
            texts |= {} if text is None else {path: text}
    is_behind = index.indexer.state.pending_files > 0
    return SharedNotes(
        texts, refused, None if is_behind else await asyncio.to_thread(shareable_ids, await book.current(), agent)
    )


def _is_named(globs: Sequence[str], path: str) -> bool:
    # a note shared by someone else begins with the person's name and a colon
    return not person_of(path) and any(matches(f"/{glob.strip('/')}", f"/{path}") for glob in globs)


def agent_team(
    agent: str, section: TeamSection, documents: AgentDocuments, journal: Journal, index: WorkspaceIndex
) -> AgentTeam:
    """Create the part of an agent in a team; this starts nothing and creates no folder."""
    person = section.person or ""
    return AgentTeam(
        agent=agent,
        section=section,
        documents=documents,
        index=index,
        sharing=TeamSharing(
            carrier_of(section, on_shown=index.demand),
            person,
            notes=partial(shared_notes, agent, section, journal, index, documents.recall.book),
            published=section.published_file,
            minutes=section.interval_minutes,
        ),
    )
