"""Share memories and notes of one person with a team through a carrier, and keep both sides up to date.

Only notes whose paths are configured are shared automatically. Shared files are first stored here durably, and sent
when the remote answers; so sharing works the same with and without a network.
"""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence, Set
from datetime import date
from pathlib import Path

import structlog
from msgspec import Struct

from memoryd.config.team import TeamSection
from memoryd.domain.memories.edits import NoPlaceError
from memoryd.domain.memories.kinds import MemoryId, short_id
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.sections import PlacedLine
from memoryd.domain.memories.sharing import (
    lines_of,
    log_path,
    note_path,
    shared_file,
    why_not_shared,
    with_promoted,
    without_memories,
)
from memoryd.errors import ConfigError, InvalidRequest, MemorydError
from memoryd.files.writing import write_private
from memoryd.retry import wait_within
from memoryd.team.protocol import Carrier, SharedChanges, TeamPlace

log = structlog.get_logger(__name__)
SOON_SECONDS = 2.0
"""Delay of the first exchange after the start."""
SEND_SECONDS = 20.0
"""Longest wait of a caller for sending after sharing or revoking; otherwise it is sent later."""
LISTEN_SECONDS = 15.0
"""Delay before listening for changes again after an error."""
NEWS_SECONDS = 0.1
"""Time in which several reported changes lead to one exchange."""
PROMOTE = "promote a memory"
REVOKE = "revoke a memory"
SHARE = "share notes"
NO_DRIVER = "a team on a PostgreSQL server needs psycopg: pip install 'memoryd[team]'"
INCOMPLETE = "of some of it is not known yet who wrote it"
NOT_FETCHED = "the other side was not asked since the start"
TAKEN_OUT = "you are not in the team: it has no person called {}"
UNSHAREABLE = "{}: it matches team.share, and is not shared: {}"


def carrier_of(section: TeamSection, *, on_shown: Callable[[], object] = lambda: None) -> Carrier:
    """Return the carrier for the address of a team; nothing is opened.

    Raises ConfigError if a required library is not installed.
    """
    place = TeamPlace(
        remote=section.remote or "",
        person=section.person or "",
        name=section.name or "",
        checkout=section.checkout_folder,
        is_own=section.checkout is None,
        notes=section.notes_folder,
    )
    if not section.is_on_server:
        from memoryd.team.carrier import GitCarrier

        return GitCarrier(place, on_shown=on_shown)
    try:
        from memoryd.team.postgres import PostgresCarrier
    except ImportError as exc:
        raise ConfigError([NO_DRIVER]) from exc
    return PostgresCarrier(place, section.name or "", on_shown=on_shown)


class SharedNotes(Struct, frozen=True):
    """The texts of the notes selected by `team.share`; None for a note that cannot be read at this moment."""

    texts: Mapping[str, str | None]
    refused: Mapping[str, str]
    """Reasons why selected notes are not shared, by path."""
    valid_ids: Set[MemoryId] | None = None
    """The ids under which the person's currently valid memories would be shared; None while that is unknown."""


class SharedMemory(Struct, frozen=True):
    """A shared memory, with the path of the own file that has it."""

    path: str
    placed: PlacedLine


class TeamSharing:
    """The sharing of one person. `notes` returns the notes to share, None while they are unknown.

    The file `published` has the paths of notes and the ids of memories that this machine shares; those shared by
    another machine of the same person are left alone. A memory that was removed from the notes here, or replaced, is
    revoked.
    """

    def __init__(
        self,
        carrier: Carrier,
        person: str,
        *,
        notes: Callable[[], Awaitable[SharedNotes | None]],
        published: Path,
        minutes: int,
    ) -> None:
        self.carrier = carrier
        self.person = person
        self.refused: tuple[str, ...] = ()
        """Sentences about selected notes that are not shared, with the reason."""
        self._notes = notes
        self._published = published
        self._has_read = False
        self._minutes = minutes
        self._logs: Mapping[str, tuple[str, Sequence[PlacedLine]]] = {}
        """The digest and the memories of each log."""
        self._turn = asyncio.Lock()
        """Locked while changes are planned from the present files, and applied."""
        self._wanted = asyncio.Event()
        self._pause = SEND_SECONDS

    async def memories(self) -> dict[MemoryId, SharedMemory]:
        """Return the shared memories by id. Raises SidecarError."""
        return {memory.placed.line.id: memory for memory in await self._lines()}

    async def _lines(self) -> list[SharedMemory]:
        """Return all memories of the person's own logs. Only changed logs are read and parsed."""
        known = {path: digest for path, digest in (await self.carrier.known()).items() if _is_log(path)}
        logs = {path: self._logs[path] for path, digest in known.items() if self._logs.get(path, ("",))[0] == digest}
        for path, data in (await self.carrier.read([path for path in known if path not in logs])).items():
            logs[path] = (self.carrier.digest(data), lines_of(data.decode("utf-8", "replace"), path))
        self._logs, self._has_read = logs, True
        return [SharedMemory(path, line) for path, (_, lines) in sorted(logs.items()) for line in lines]

    async def promote(self, line: RetainedLine, day: date) -> tuple[SharedMemory, bool]:
        """Share a memory that was recorded on a day. Return the shared memory, and whether it is new.

        Raises InvalidRequest for a person outside of the team, or if the log has no place for it; SidecarError.
        """
        async with self._turn:
            if (before := (await self.memories()).get(line.id)) is not None:
                return before, False
            path = log_path(self.person, day)
            text = (await self.carrier.read([path])).get(path, b"").decode("utf-8", "replace")
            try:
                made = with_promoted(text, path, [line])
            except NoPlaceError as exc:
                raise InvalidRequest(str(exc), hint="mend that file in the repository of the team") from exc
            await self._note(lambda published: published | {line.id})
            await self.carrier.apply(SharedChanges(put={path: made.encode()}, why=f"{PROMOTE} {short_id(line.id)}"))
            return (await self.memories())[line.id], True

    async def revoke(self, ids: Collection[MemoryId]) -> list[SharedMemory]:
        """Revoke memories, and return those that were shared. Raises like `promote`."""
        async with self._turn:
            # a list: two machines may have shared the same memory in logs of different days
            revoked = [memory for memory in await self._lines() if memory.placed.line.id in ids]
            if not revoked:
                await self._note(lambda published: published - set(ids))
                return []
            paths = sorted({memory.path for memory in revoked})
            texts = await self.carrier.read(paths)
            put, remove = dict[str, bytes](), list[str]()
            for path in paths:
                try:
                    left = without_memories(texts[path].decode("utf-8", "replace"), path, set(ids))
                except NoPlaceError as exc:
                    raise InvalidRequest(str(exc), hint="take it out of that file in the repository") from exc
                if left:
                    put[path] = left.encode()
                else:
                    remove.append(path)
            await self.carrier.apply(SharedChanges(put=put, remove=remove, why=REVOKE))
            await self._note(lambda published: published - set(ids))
            return revoked

    async def queue_revocation(self, ids: Collection[MemoryId], *, is_dry_run: bool) -> bool:
        """Note memories that are about to be removed from the notes, so that they are revoked as soon as possible.

        Return whether any of them may be shared. A dry run notes nothing.
        """
        if not is_dry_run:
            async with self._turn:
                await self._note(lambda published: published | set(ids))
        shared = {placed.line.id for _, lines in self._logs.values() for placed in lines}
        return not self._has_read or not shared.isdisjoint(ids)

    async def published(self) -> Set[str]:
        """Return what this machine shares: the paths of notes in the repository, and the ids of memories there."""
        return await asyncio.to_thread(_read_names, self._published)

    def exchange_soon(self) -> None:
        """Request a comparison of the notes and an exchange within seconds; ignored if exchanges are manual only."""
        self._wanted.set()

    async def _note(self, change: Callable[[Set[str]], Set[str]]) -> None:
        """Change the record of what this machine shares. Entries that are not shared are dropped by the next sync."""
        await asyncio.to_thread(_write_names, self._published, change(await self.published()))

    async def send(self) -> bool:
        """Exchange with the remote for at most `SEND_SECONDS`. Return whether nothing is pending afterwards."""
        await wait_within(self.carrier.exchange(), SEND_SECONDS)
        if self.carrier.health().pending:
            self._wanted.set()
        return not self.carrier.health().pending

    async def listen(self) -> None:
        """Request an exchange whenever the remote reports a change, until cancelled."""
        while self._minutes:
            try:
                await self.carrier.news()
            except (MemorydError, OSError):
                # changes may have been missed in the meantime: request an exchange after the delay
                await asyncio.sleep(LISTEN_SECONDS)
            self._pause = NEWS_SECONDS
            self._wanted.set()

    async def sync(self) -> None:
        """Make the shared files equal to the notes, and exchange with the remote. Raises SidecarError."""
        try:
            # read before the notes: a memory that is recorded and shared in between must not be revoked
            published = await self.published()
            if (notes := await self._notes()) is not None:
                if notes.valid_ids is None:
                    # the index is about to read changes
                    self._wanted.set()
                elif outdated := _ids(published) - notes.valid_ids:
                    for memory in await self.revoke(outdated):
                        log.info("taken back from the team: it no longer holds", memory=short_id(memory.placed.line.id))
                await self._share_notes(notes)
        finally:
            # fetch the files of others in any case
            await self.carrier.exchange()

    async def run(self) -> None:
        """Sync after the start, at each interval and on request, until cancelled. Failures are retried next time."""
        await asyncio.sleep(SOON_SECONDS)
        while True:
            if self._minutes:
                # errors are reported by the carrier's health
                with contextlib.suppress(MemorydError, OSError):
                    await self.sync()
            if self._minutes and self.why_outdated() == INCOMPLETE:
                self._wanted.set()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._minutes * 60 or None):
                    await self._wanted.wait()
                # cleared only here, not after an exchange, which may have read a note before it was written
                self._wanted.clear()
                await asyncio.sleep(self._pause)
            # do not retry at once what could not be sent a moment ago
            self._pause = SEND_SECONDS

    async def _share_notes(self, notes: SharedNotes) -> None:
        async with self._turn:
            known = {path: digest for path, digest in (await self.carrier.known()).items() if not _is_log(path)}
            wanted, refused = dict[str, bytes | None](), dict(notes.refused)
            for path, text in notes.texts.items():
                if text is not None and (why := why_not_shared(path, text)):
                    refused[path] = why
                else:
                    wanted[note_path(self.person, path)] = None if text is None else text.encode("utf-8", "replace")
            self.refused = tuple(UNSHAREABLE.format(path, why) for path, why in sorted(refused.items()))
            put = {
                path: data
                for path, data in wanted.items()
                if data is not None and known.get(path) != self.carrier.digest(data)
            }
            published = await self.published()
            changes = SharedChanges(put=put, remove=sorted(known.keys() & published - wanted.keys()), why=SHARE)
            # noted before it is applied, so that it can be revoked later even after a kill
            await self._note(lambda published: published | wanted.keys())
            if not changes.is_empty:
                await self.carrier.apply(changes)
            # if the carrier knows no files at this moment, all earlier entries stay
            retained = _ids(published) if known else published
            await self._note(lambda _: retained | wanted.keys())

    def why_outdated(self) -> str:
        """Return why the files of others may be outdated here; empty if they are not, or exchanges are manual only."""
        health = self.carrier.health()
        unasked = NOT_FETCHED if self._minutes and health.fetched_at is None else ""
        return health.broken or health.offline or unasked or INCOMPLETE * (not health.is_complete)

    def broken(self) -> str:
        """Return why exchanges do not work, other than an unreachable remote; empty if they do."""
        health = self.carrier.health()
        is_outside = health.fetched_at is not None and self.person not in health.people
        return health.broken or TAKEN_OUT.format(self.person) * is_outside

    def troubles(self) -> Sequence[str]:
        """Return the problems for the owner."""
        return list(dict.fromkeys(filter(None, [self.broken(), *self.carrier.health().troubles, *self.refused])))


def _is_log(path: str) -> bool:
    place = shared_file(path)
    return place is not None and place.is_log


def _ids(published: Set[str]) -> set[MemoryId]:
    """Return the ids of memories in the record, which also has paths."""
    return {MemoryId(name) for name in published if "/" not in name}


def _read_names(file: Path) -> set[str]:
    try:
        return {str(name) for name in json.loads(file.read_text("utf-8"))}
    except (FileNotFoundError, ValueError, TypeError):
        return set()


def _write_names(file: Path, names: Set[str]) -> None:
    if names != _read_names(file):
        write_private(file, json.dumps(sorted(names)).encode())
