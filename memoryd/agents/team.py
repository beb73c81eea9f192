"""The part of an agent in a team: its owner shares memories and takes them back, and notes are shared by their path."""

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
from memoryd.domain.memories.changes.replacing import replaced
from memoryd.domain.memories.documents import within
from memoryd.domain.memories.kinds import ID_PREFIX_CHARS, MemoryId, short_id
from memoryd.domain.memories.line import RetainedLine, render
from memoryd.domain.memories.sections import as_shared
from memoryd.domain.memories.sharing import (
    A_COLLEAGUES,
    REPLACED,
    log_path,
    note_path,
    promoted,
    replaced_in,
    shared_file,
    shared_names,
    standing,
    why_not_promoted,
)
from memoryd.domain.patterns import matches
from memoryd.errors import Denied, InvalidRequest, MemorydError, NotFound, NotNow, SidecarError, StoreError
from memoryd.memory.book import MemoryCache
from memoryd.memory.journal import Journal
from memoryd.replies.changes import TeamPersonReply, TeamPromoteReply, TeamPublishedReply, TeamReply, TeamRevokeReply
from memoryd.team.sharing import SharedMemory, SharedNotes, TeamSharing, carrier_of

ALREADY = "it is shared already: nothing was changed"
WAITS = "it waits to be sent: {}"
NOT_REACHED = "the other side was not reached in time"
OLDER_VERSION = "what it supersedes is nothing that you share with the team, and is not named there"
NOT_SHARED = "you share no memory {!r} with the team"
_NAME_HINT = "`memoryctl recall` shows memories with their ids and citations; name one by its id"
_LAST = "what colleagues of team {} or their agents have made of it: a note, an answer, a memory of their own"
SERVER_REACH = (
    "deleted rows and logs of the server of team {}, until it cleans them up, and its backups",
    "what members of team {} copied while they could read it",
    "the machine of a member of team {} who is offline, until it is brought up to date",
    _LAST,
)
REACH = (
    "the history of team {}, from which it was taken back: whoever may read the repository finds it in older commits",
    "clones and backups of the repository of team {}, until they are brought up to date",
    _LAST,
)
WOULD_GO = "it is shared with team {}, and is taken back there"
MEMORY_GOES = "{} is shared with team {}, and is taken back there {}"
NOTE_GOES = "{} is shared with team {}: what goes from it is taken back there {}"
SOON, LATER = "within half a minute", "as soon as it can be reached: {}"
BY_HAND = "by the next memoryctl team sync"
MAY_STAY = "it may still be shared with team {}, and is taken back there as soon as that can be done: {}"
ID_CHARS = 36
_FOLLOW_SECONDS = 10.0


class AgentTeam(Struct, frozen=True, kw_only=True):
    """What one agent shares; only its owner decides that."""

    agent: str
    section: TeamSection
    documents: AgentDocuments
    index: WorkspaceIndex
    sharing: TeamSharing

    async def promote(self, name: str, admitted: Admitted, *, is_dry_run: bool) -> TeamPromoteReply:
        """Share a memory, by its id or a citation, or say what would be shared.

        Raises NotFound, Denied for what must not be shared, InvalidRequest for who is not in the team, SidecarError.
        """
        book, memory = await self._named(name, admitted)
        older = await asyncio.to_thread(replaced_in, book)
        if why := why_not_promoted(memory, self.agent) or REPLACED * (memory.id in older):
            raise Denied(f"{memory.id[:ID_PREFIX_CHARS]} is not shared: {why}")
        shared = await self.sharing.memories()
        names = shared_names(memory.line, book, shared.keys())
        line, notes = promoted(memory.line, names), list[str]()
        if len(names) < len(memory.line.attributes.supersedes):
            notes.append(OLDER_VERSION)
        before, changed, sent = shared.get(line.id), False, not self.sharing.carrier.health().pending
        if before is not None:
            notes.append(ALREADY)
        elif is_dry_run:
            # who joined a moment ago reads it, too
            sent = await self.sharing.send()
        else:
            before, changed = await self.sharing.promote(line, memory.recorded)
            self.index.demand()
            sent = await self.sharing.send()
            notes += [] if sent else [WAITS.format(self._why_waiting())]
        place = before.path if before is not None else log_path(self.sharing.person, memory.recorded)
        return TeamPromoteReply(
            id=line.id,
            line=render(line if before is None else before.placed.line),
            author=self.sharing.person,
            readers=list(await self.sharing.carrier.members()),
            citation=place if before is None else _cited(before),
            promoted=before is not None,
            changed=changed,
            sent=sent,
            notes=notes,
        )

    async def revoke(self, name: str, admitted: Admitted, *, is_dry_run: bool) -> TeamRevokeReply:
        """Take a memory back, by its id or a citation, or say what would go; raises as `promote` does."""
        gone, sent = [await self._shared(name, admitted)], False
        if not is_dry_run:
            gone = await self.sharing.revoke([one.placed.line.id for one in gone])
            self.index.demand()
            sent = await self.sharing.send()
        waits = [] if sent or is_dry_run else [WAITS.format(self._why_waiting())]
        return TeamRevokeReply(
            revoked=list(map(_cited, gone)), changed=not is_dry_run, sent=sent, stays=[*waits, *self._reach()]
        )

    async def forget(self, lines: Iterable[RetainedLine], paths: Collection[str], *, is_dry_run: bool) -> list[str]:
        """Take back what was shared of memories that are forgotten; return what is to be said of it in sentences.

        Of notes that something is taken out of, the next exchange takes it back; it is soon. Where that cannot be done
        now, memories are forgotten here all the same, and taken back as soon as it can.
        """
        said = await self.let_go((), paths, is_dry_run=is_dry_run)
        if ids := {promoted(line).id for line in lines}:
            return [*said, *await self._take_back(ids, is_dry_run=is_dry_run)]
        return [*said, *(self._reach() if said else ())]

    async def let_go(self, lines: Iterable[RetainedLine], paths: Collection[str], *, is_dry_run: bool) -> list[str]:
        """Have the next exchange soon, which takes back what lines and notes state no more; return what is to be said.

        `lines` are those that go, or are replaced, and `paths` the notes in which something does.
        """
        published, person = await self.sharing.published(), self.sharing.person
        goes = [(path, NOTE_GOES) for path in sorted(set(paths)) if note_path(person, path) in published]
        if published:
            lost = await asyncio.to_thread(lambda: [one.id for one in lines if promoted(one).id in published])
            goes += [(short_id(one), MEMORY_GOES) for one in dict.fromkeys(lost)]
        if goes and not is_dry_run:
            self.sharing.exchange_soon()
        offline = self.sharing.carrier.health().offline
        soon = LATER.format(offline) if offline else SOON
        when = soon if self.section.interval_minutes else BY_HAND
        return [text.format(one, self.section.name, when) for one, text in goes]

    async def _take_back(self, ids: Set[MemoryId], *, is_dry_run: bool) -> list[str]:
        try:
            if is_dry_run:
                return [WOULD_GO.format(self.section.name)] * (not ids.isdisjoint(await self.sharing.memories()))
            if not await self.sharing.revoke(ids):
                return []
        except (MemorydError, OSError) as exc:
            may_stay = await self.sharing.owe(ids, is_dry_run=is_dry_run)
            return [MAY_STAY.format(self.section.name, exc)] * may_stay
        waits = [] if await self.sharing.send() else [WAITS.format(self._why_waiting())]
        return [*waits, *self._reach()]

    async def sync(self) -> TeamReply:
        """Share the notes that are named, and exchange with the others now.

        Raises SidecarError where more is wrong than that the other side is away: one is not in the team, say.
        """
        await self.index.follow(_FOLLOW_SECONDS)
        await self.sharing.sync()
        self.index.demand()
        if broken := self.sharing.broken():
            raise SidecarError(broken)
        return self.status()

    def status(self) -> TeamReply:
        """Say how the exchange does."""
        health = self.sharing.carrier.health()
        return TeamReply(
            name=self.section.name or "",
            person=self.sharing.person,
            remote=without_credentials(self.section.remote or ""),
            people=[TeamPersonReply(name=one, files=files) for one, files in sorted(health.people.items())],
            published=TeamPublishedReply(pending=health.pending, behindSeconds=health.behind_seconds),
            fetchedAt=None if health.fetched_at is None else rfc3339(health.fetched_at),
            pushedAt=None if health.pushed_at is None else rfc3339(health.pushed_at),
            offline=health.offline or None,
            trouble=list(self.sharing.troubles()),
        )

    @property
    def trouble(self) -> str:
        """What keeps it from doing all that it should; empty if nothing does."""
        return "; ".join(filter(None, [*self.sharing.troubles(), self.sharing.carrier.health().offline]))

    async def _named(self, name: str, admitted: Admitted) -> tuple[Book, Memory]:
        """Return the memory of an id or a citation within reach, and the book; raises NotFound."""
        # right after a reload nobody knows yet what stands where
        await self.index.follow(_FOLLOW_SECONDS)
        book = await self.documents.now()
        known = {one.id: one for one in within(book, self.documents.recall.visibility(admitted))}
        if len(name) == ID_CHARS and name not in known:
            # by the id that it would have with the team
            of_name = (one for one in known.values() if promoted(one.line).id == name)
            if named := [one for one in of_name if why_not_promoted(one, self.agent) != A_COLLEAGUES]:
                return book, named[0]
        try:
            return book, replaced(known, {}, name, is_exact=True).named
        except ValueError as exc:
            raise NotFound(str(exc), hint=_NAME_HINT) from exc

    async def _shared(self, name: str, admitted: Admitted) -> SharedMemory:
        """Return a memory that is shared: by its id there, a citation, or its name here; raises NotFound, Denied."""
        shared = await self.sharing.memories()
        if (one := _by_id(shared.values(), name) or self._by_citation(shared.values(), name)) is not None:
            return one
        _, memory = await self._named(name, admitted)
        if why_not_promoted(memory, self.agent) == A_COLLEAGUES:
            raise Denied(f"only one's own lines are taken back: {A_COLLEAGUES}", hint="ask who shared it")
        if (found := shared.get(promoted(memory.line).id)) is None:
            raise NotFound(NOT_SHARED.format(name), hint="memoryctl team promote shares one")
        return found

    def _by_citation(self, shared: Collection[SharedMemory], name: str) -> SharedMemory | None:
        if (cited := citation_in(name)) is None:
            return None
        line = cited.start_line or 0
        for one in shared:
            place = shared_file(one.path)
            named = (one.path, f"{self.sharing.person}:{place.shown}" if place else "")
            if cited.path in named and one.placed.start_line <= line <= one.placed.end_line:
                return one
        return None

    def _reach(self) -> list[str]:
        reach = SERVER_REACH if self.section.is_on_server else REACH
        return [one.format(self.section.name) for one in reach]

    def _why_waiting(self) -> str:
        health = self.sharing.carrier.health()
        return health.broken or health.refused or health.offline or NOT_REACHED


def _by_id(shared: Collection[SharedMemory], name: str) -> SharedMemory | None:
    prefix = name.strip().lower()
    # by the id that it has in the repository, or by that under which others recall it
    found = [
        one
        for one in shared
        if len(prefix) >= ID_PREFIX_CHARS
        and any(known.id.startswith(prefix) for known in (one.placed.line, as_shared(one.placed.line)))
    ]
    return found[0] if len(found) == 1 else None


def _cited(one: SharedMemory) -> str:
    return str(Citation(one.path, one.placed.start_line, one.placed.end_line))


async def shared_notes(
    agent: str, section: TeamSection, journal: Journal, index: WorkspaceIndex, book: MemoryCache
) -> SharedNotes | None:
    """Return the notes that the configuration names, as they are on the disk, and which memories hold.

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
        texts, refused, None if is_behind else await asyncio.to_thread(standing, await book.now(), agent)
    )


def _is_named(globs: Sequence[str], path: str) -> bool:
    # what others share has the name of a person before a colon
    return not person_of(path) and any(matches(f"/{one.strip('/')}", f"/{path}") for one in globs)


def agent_team(
    agent: str, section: TeamSection, documents: AgentDocuments, journal: Journal, index: WorkspaceIndex
) -> AgentTeam:
    """Return the part of an agent in a team; nothing runs and no folder is made."""
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
