"""Shares memories and notes of one person with a team, by whatever carries them, and keeps both sides up to date.

Nothing is shared by itself but notes whose paths were named. What is shared is written here first, durably, and sent
when the other side answers; so it works alike with and without a network.
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
    without,
)
from memoryd.errors import ConfigError, InvalidRequest, MemorydError
from memoryd.files.writing import write_private
from memoryd.retry import happens
from memoryd.team.protocol import Carrier, SharedChanges, TeamPlace

log = structlog.get_logger(__name__)
SOON_SECONDS = 2.0
"""After the start, before the other side is asked first."""
SEND_SECONDS = 20.0
"""How long somebody who shares or takes back waits for it to be sent; it is sent later else."""
LISTEN_SECONDS = 15.0
"""Between two tries to be told of news."""
NEWS_SECONDS = 0.1
"""In which more than one change is told as one."""
PROMOTE = "promote a memory"
REVOKE = "revoke a memory"
SHARE = "share notes"
NO_DRIVER = "a team on a PostgreSQL server needs psycopg: pip install 'memoryd[team]'"
NOT_WHOLE = "of some of it is not known yet who wrote it"
NOT_ASKED = "the other side was not asked since the start"
TAKEN_OUT = "you are not in the team: it has nobody called {}"
UNSHAREABLE = "{}: it matches team.share, and is not shared: {}"


def carrier_of(section: TeamSection, *, on_shown: Callable[[], object] = lambda: None) -> Carrier:
    """Return what carries the memory of a team, by its address; nothing is opened.

    Raises ConfigError where a program library for it is not installed.
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
    """The notes that `team.share` names as they are now; None for one that cannot be read at this moment."""

    texts: Mapping[str, str | None]
    refused: Mapping[str, str]
    """Why others that it names are not shared, by their paths."""
    standing: Set[MemoryId] | None = None
    """The ids under which one's own memories would be shared, as far as they hold; None while nobody knows."""


class SharedMemory(Struct, frozen=True):
    """A memory as it is in a file of one's own."""

    path: str
    placed: PlacedLine


class TeamSharing:
    """What one person shares. `notes` returns what is to be shared by path, None while nobody knows.

    The file `published` names the notes that this machine shares, and the ids of the memories: what another one of the
    same person shares is left. A memory that stands no more in the notes here, or was replaced, is taken back.
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
        """Notes that are named and not shared, each with the reason."""
        self._notes = notes
        self._published = published
        self._has_read = False
        self._minutes = minutes
        self._logs: Mapping[str, tuple[str, Sequence[PlacedLine]]] = {}
        """Of each log the digest of its bytes and what it states."""
        self._turn = asyncio.Lock()
        """For what plans from the files that there are."""
        self._wanted = asyncio.Event()
        self._pause = SEND_SECONDS

    async def memories(self) -> dict[MemoryId, SharedMemory]:
        """Return the memories that are shared, by their ids; raises SidecarError."""
        return {one.placed.line.id: one for one in await self._lines()}

    async def _lines(self) -> list[SharedMemory]:
        """Return every line of one's own logs; only what changed since the last time is read and parsed."""
        known = {path: digest for path, digest in (await self.carrier.known()).items() if _is_log(path)}
        logs = {path: self._logs[path] for path, digest in known.items() if self._logs.get(path, ("",))[0] == digest}
        for path, data in (await self.carrier.read([path for path in known if path not in logs])).items():
            logs[path] = (self.carrier.digest(data), lines_of(data.decode("utf-8", "replace"), path))
        self._logs, self._has_read = logs, True
        return [SharedMemory(path, one) for path, (_, lines) in sorted(logs.items()) for one in lines]

    async def promote(self, line: RetainedLine, day: date) -> tuple[SharedMemory, bool]:
        """Share a memory that was recorded on a day; return where it is, and whether that is new.

        Raises InvalidRequest for who is not in the team, or where the log has no place for it, SidecarError.
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
        """Take memories back, and return those that were shared; raises as `promote` does."""
        async with self._turn:
            # two machines may have shared the same on two days
            gone = [one for one in await self._lines() if one.placed.line.id in ids]
            if not gone:
                await self._note(lambda published: published - set(ids))
                return []
            paths = sorted({one.path for one in gone})
            texts = await self.carrier.read(paths)
            put, remove = dict[str, bytes](), list[str]()
            for path in paths:
                try:
                    left = without(texts[path].decode("utf-8", "replace"), path, set(ids))
                except NoPlaceError as exc:
                    raise InvalidRequest(str(exc), hint="take it out of that file in the repository") from exc
                if left:
                    put[path] = left.encode()
                else:
                    remove.append(path)
            await self.carrier.apply(SharedChanges(put=put, remove=remove, why=REVOKE))
            await self._note(lambda published: published - set(ids))
            return gone

    async def owe(self, ids: Collection[MemoryId], *, is_dry_run: bool) -> bool:
        """Have memories that are about to go from the notes taken back as soon as that can be done.

        Return whether they may be shared.
        """
        if not is_dry_run:
            async with self._turn:
                await self._note(lambda published: published | set(ids))
        shared = {one.line.id for _, lines in self._logs.values() for one in lines}
        return not self._has_read or not shared.isdisjoint(ids)

    async def published(self) -> Set[str]:
        """Return what is shared from here: notes by their paths in the repository, and memories by their ids there."""
        return await asyncio.to_thread(_read_names, self._published)

    def exchange_soon(self) -> None:
        """Have the notes compared and sent a few seconds from now; not where it is done by hand alone."""
        self._wanted.set()

    async def _note(self, change: Callable[[Set[str]], Set[str]]) -> None:
        """Change what is noted as shared from here; what is told of it when nothing was is dropped by itself."""
        await asyncio.to_thread(_write_names, self._published, change(await self.published()))

    async def send(self) -> bool:
        """Exchange with the other side, but not for long; return whether nothing waits to be sent."""
        await happens(self.carrier.exchange(), SEND_SECONDS)
        if self.carrier.health().pending:
            self._wanted.set()
        return not self.carrier.health().pending

    async def listen(self) -> None:
        """Bring in at once what the other side tells of, until cancelled."""
        while self._minutes:
            try:
                await self.carrier.news()
            except (MemorydError, OSError):
                # what was told meanwhile was not heard
                await asyncio.sleep(LISTEN_SECONDS)
            self._pause = NEWS_SECONDS
            self._wanted.set()

    async def sync(self) -> None:
        """Make what is shared by path equal to the notes, and exchange with the other side; raises SidecarError."""
        try:
            # before it is asked what stands: a memory that is stated and shared meanwhile stands
            published = await self.published()
            if (notes := await self._notes()) is not None:
                if notes.standing is None:
                    # the index is about to read what changed
                    self._wanted.set()
                elif gone := _ids(published) - notes.standing:
                    for one in await self.revoke(gone):
                        log.info("taken back from the team: it holds no more", memory=short_id(one.placed.line.id))
                await self._share_notes(notes)
        finally:
            # what others shared comes in all the same
            await self.carrier.exchange()

    async def run(self) -> None:
        """Do so soon after the start and at each interval; what could not be done is tried at the next one."""
        await asyncio.sleep(SOON_SECONDS)
        while True:
            if self._minutes:
                # the carrier tells what is wrong with it
                with contextlib.suppress(MemorydError, OSError):
                    await self.sync()
            if self._minutes and self.behind() == NOT_WHOLE:
                self._wanted.set()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._minutes * 60 or None):
                    await self._wanted.wait()
                # not by an exchange: one that ran meanwhile may have read a note before it was written
                self._wanted.clear()
                await asyncio.sleep(self._pause)
            # what was shared a moment ago and could not be sent is not tried at once again
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
            # before, so that what a kill left shared is taken back later
            await self._note(lambda published: published | wanted.keys())
            if not changes.is_empty:
                await self.carrier.apply(changes)
            # of what the carrier cannot tell at this moment it stays known that it was shared from here
            kept = _ids(published) if known else published
            await self._note(lambda _: kept | wanted.keys())

    def behind(self) -> str:
        """Say why what the others share may be older here than it is there; empty if it is not, or asked by hand."""
        health = self.carrier.health()
        unasked = NOT_ASKED if self._minutes and health.fetched_at is None else ""
        return health.broken or health.offline or unasked or NOT_WHOLE * (not health.is_whole)

    def broken(self) -> str:
        """Say what else than the way to the other side keeps an exchange from being one; empty if nothing does."""
        health = self.carrier.health()
        is_outside = health.fetched_at is not None and self.person not in health.people
        return health.broken or TAKEN_OUT.format(self.person) * is_outside

    def troubles(self) -> Sequence[str]:
        """Return what its owner should look at."""
        return list(dict.fromkeys(filter(None, [self.broken(), *self.carrier.health().troubles, *self.refused])))


def _is_log(path: str) -> bool:
    place = shared_file(path)
    return place is not None and place.is_log


def _ids(published: Set[str]) -> set[MemoryId]:
    """Return what is no path of what is shared."""
    return {MemoryId(name) for name in published if "/" not in name}


def _read_names(file: Path) -> set[str]:
    try:
        return {str(one) for one in json.loads(file.read_text("utf-8"))}
    except (FileNotFoundError, ValueError, TypeError):
        return set()


def _write_names(file: Path, names: Set[str]) -> None:
    if names != _read_names(file):
        write_private(file, json.dumps(sorted(names)).encode())
