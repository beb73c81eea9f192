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
from typing import Final

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
from memoryd.files.writing import replace_file
from memoryd.team.protocol import Carrier, SharedChanges, TeamPlace

SOON_SECONDS: Final = 2.0
"""After the start, before the other side is asked first."""
SEND_SECONDS: Final = 20.0
"""How long somebody who shares or takes back waits for it to be sent; it is sent later else."""
LISTEN_SECONDS: Final = 15.0
"""Between two tries to be told of news."""
NEWS_SECONDS: Final = 0.1
"""In which more than one change is told as one."""
PROMOTE: Final = "promote a memory"
REVOKE: Final = "revoke a memory"
SHARE: Final = "share notes"
NO_DRIVER: Final = "a team on a PostgreSQL server needs psycopg: pip install 'memoryd[team]'"
UNSHAREABLE: Final = "{}: it matches team.share, and is not shared: {}"


def carrier_of(section: TeamSection, *, on_shown: Callable[[], object] = lambda: None) -> Carrier:
    """Return what carries the memory of a team, by its address; nothing is opened.

    Raises ConfigError where a program library for it is not installed.
    """
    place = TeamPlace(
        remote=section.remote or "",
        person=section.person or "",
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


class SharedMemory(Struct, frozen=True):
    """A memory as it is in a file of one's own."""

    path: str
    placed: PlacedLine


class TeamSharing:
    """What one person shares. `notes` returns what is to be shared by path, None while nobody knows.

    The file `published` names the notes that this machine shares: what another one of the same person shares is left.
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
        self._owed: frozenset[MemoryId] = frozenset()
        """Memories that are to be taken back as soon as that can be done."""
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
            await self.carrier.apply(SharedChanges(put={path: made.encode()}, why=f"{PROMOTE} {short_id(line.id)}"))
            return (await self.memories())[line.id], True

    async def revoke(self, ids: Collection[MemoryId]) -> list[SharedMemory]:
        """Take memories back, and return those that were shared; raises as `promote` does."""
        async with self._turn:
            # two machines may have shared the same on two days
            gone = [one for one in await self._lines() if one.placed.line.id in ids]
            if not gone:
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
            return gone

    def owe(self, ids: Collection[MemoryId], *, is_dry_run: bool) -> bool:
        """Have memories taken back by the next exchange that can; return whether they may be shared."""
        self._owed |= frozenset(() if is_dry_run else ids)
        shared = {one.line.id for _, lines in self._logs.values() for one in lines}
        return not self._has_read or not shared.isdisjoint(ids)

    async def _take_back_what_is_owed(self) -> None:
        if owed := self._owed:
            await self.revoke(owed)
            self._owed -= owed

    async def send(self) -> bool:
        """Exchange with the other side, but not for long; return whether nothing waits to be sent."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SEND_SECONDS):
                await self.carrier.exchange()
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
            await self._take_back_what_is_owed()
            await self._share_notes()
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
            self._wanted.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._minutes * 60 or None):
                    await self._wanted.wait()
                    await asyncio.sleep(self._pause)
            # what was shared a moment ago and could not be sent is not tried at once again
            self._pause = SEND_SECONDS

    async def _share_notes(self) -> None:
        notes = await self._notes()
        if notes is None:
            return
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
            published = await asyncio.to_thread(_read_paths, self._published)
            changes = SharedChanges(put=put, remove=sorted(known.keys() & published - wanted.keys()), why=SHARE)
            # before, so that what a kill left shared is taken back later
            await asyncio.to_thread(_write_paths, self._published, published | wanted.keys())
            if not changes.is_empty:
                await self.carrier.apply(changes)
            # of what the carrier cannot tell at this moment it stays known that it was shared from here
            await asyncio.to_thread(_write_paths, self._published, wanted.keys() | (set() if known else published))

    def troubles(self) -> Sequence[str]:
        """Return what its owner should look at."""
        return [*self.carrier.health().troubles, *self.refused]


def _is_log(path: str) -> bool:
    place = shared_file(path)
    return place is not None and place.is_log


def _read_paths(file: Path) -> set[str]:
    try:
        return {str(one) for one in json.loads(file.read_text("utf-8"))}
    except (FileNotFoundError, ValueError, TypeError):
        return set()


def _write_paths(file: Path, paths: Set[str]) -> None:
    if paths != _read_paths(file):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(file, json.dumps(sorted(paths)).encode())
