"""A PostgreSQL server as carrier: for teams where checkouts are impossible, or rights must be enforced per row.

The server stores the files of all members. Its functions, the only access (`team/members.py`), check the login, which
has the name of its person, so no one can write in another name. Each member's machine stores the files that it may
read, and indexes them like its own notes: all are ranked by the same rules, with or without the server.

Own files are first stored here durably, and sent when the server answers. The versions on the server at the last
exchange are stored, too, so that changes by a person on two machines are merged memory by memory. Rows are foreign
data: each is checked before anything of it is written to disk.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from uuid import UUID

import psycopg
from msgspec.structs import replace
from psycopg import sql

from memoryd.domain.memories.sharing import (
    CONFLICT,
    MAX_FILE_BYTES,
    SharedPath,
    is_unmerged,
    shared_file,
)
from memoryd.errors import InvalidRequest, MemorydError, SidecarError
from memoryd.files.reading import decode
from memoryd.team.attribution import (
    MAX_PERSON_BYTES,
    NO_PLACE,
    NO_TEXT,
    TOO_LARGE,
    ShownFile,
    ShownFiles,
    TeamView,
    withheld_sentences,
)
from memoryd.team.members import (
    BODIES,
    LISTED,
    PEOPLE,
    PUT,
    STATUS,
    TEAM_STATE,
    TRANSACTION,
    ListedFile,
    TeamState,
    connection_options,
    query_rows,
    sentence,
)
from memoryd.team.own_files import BegunExchange, OwnFiles
from memoryd.team.protocol import CarrierHealth, SharedChanges, TeamPlace

STATEMENT_SECONDS = 30
EXCHANGE_SECONDS = 60
ASK_SECONDS = 3
"""Time limit of a query for which a caller waits, and whose earlier result is known."""
PULSE_SECONDS = 15
"""Interval at which a silent connection is checked while listening."""
TRIES = 4
"""Attempts of an exchange if another machine of the same person is faster."""
BATCH = 20
"""Files whose bytes are requested at once."""
JOIN_HINT = "ask who owns the team: memoryctl team members add"
PERSON_FILES = 5_000
"""Most files of one member, so that no member can crowd out the others."""
TEAM_FILES = 100_000
TOO_MUCH = f"{{}} shares more than {PERSON_FILES:,} files or {MAX_PERSON_BYTES:,} bytes, all than {TEAM_FILES:,}"
NO_TEAM = "you are not in the team {} on that server, or there is none"
SILENT = "the server does not answer"
READS_ONLY = "you may read what the team shares, and not share"
FASTER = "another machine of yours writes all the time; it is tried again"
UNFINISHED = "what was sent is not finished there; it is tried again"
FOREIGN = "the server calls you {}: share as the person of that name"

FileKey = tuple[str, str]
"""Person and path."""


class PostgresCarrier:
    """The carrier of one person; see `team/protocol.py`."""

    def __init__(self, place: TeamPlace, team: str, *, on_shown: Callable[[], object] = lambda: None) -> None:
        self.place = place
        self.team = team
        self._on_shown = on_shown
        self._files = OwnFiles(place.checkout)
        self._view = TeamView(place.notes)
        self._health = CarrierHealth()
        self._others: dict[FileKey, tuple[bytes, bytes]] | None = None
        """Digest and bytes of the files of others. None until they are read from the folder of shown files."""
        self._refusal = ""
        self._is_reader = False
        self._changed: Mapping[str, UUID] = {}
        """The last change of each person that is contained in `_others`."""
        self._withheld: Mapping[FileKey, str] = {}
        self._judged: dict[str, tuple[bytes, str, SharedPath | None]] = {}
        """The bytes of each file, why they are not shown, and the place of the file."""
        self._compared = -1
        """Number of changes on the server when own files were last compared."""
        self._reported = 0
        """Number of changes on the server that `news` has reported already."""
        self._members: Collection[str] = ()
        self._turn = asyncio.Lock()
        """Locked while own files are read or changed."""
        self._network = asyncio.Lock()
        self._viewing = asyncio.Lock()

    def health(self) -> CarrierHealth:
        """Return the state of the carrier."""
        return self._health

    def digest(self, data: bytes) -> str:
        """Return the digest by which `known` identifies these bytes."""
        return sha256(data).hexdigest()

    async def known(self) -> Mapping[str, str]:
        """Return the digests of the person's own files by path."""
        async with self._turn:
            own = await asyncio.to_thread(self._files.own)
        return {path: self.digest(data) for path, data in own.items()}

    async def read(self, paths: Collection[str]) -> Mapping[str, bytes]:
        """Return the bytes of the person's own files by path; missing files are left out."""
        async with self._turn:
            own = await asyncio.to_thread(self._files.own)
        return {path: own[path] for path in paths if path in own}

    async def members(self) -> Collection[str]:
        """Return the members, who may read the shared files; as of the last exchange if the server is away."""
        with contextlib.suppress(SidecarError, TimeoutError, psycopg.Error):
            async with asyncio.timeout(ASK_SECONDS), self._connect() as server:
                self._members = await self._read_people(server)
        return self._members

    async def apply(self, changes: SharedChanges) -> None:
        """Change own files on this machine. Raises InvalidRequest if the person may not share, SidecarError."""
        if self._refusal:
            raise InvalidRequest(self._refusal, hint=JOIN_HINT)
        if self._is_reader:
            raise InvalidRequest(READS_ONLY, hint="ask who owns the team: memoryctl team members add --role write")
        async with self._turn:
            try:
                await asyncio.to_thread(self._files.change, changes.put, changes.remove)
            except OSError as exc:
                raise SidecarError(f"what is shared cannot be written: {exc.strerror}") from exc
            await self._count_pending()
            await self._show()

    async def exchange(self) -> None:
        """Fetch the files of others, and send the applied changes. If that fails, `health` has the reason."""
        async with self._network:
            broken = offline = refused = ""
            try:
                async with asyncio.timeout(EXCHANGE_SECONDS), self._connect() as server:
                    try:
                        refused = await self._send(server)
                    except psycopg.Error as exc:
                        # fetch the files of others in any case
                        refused = sentence(exc)
                    await self._fetch(server)
            except _AwayError as exc:
                offline = str(exc)
            except TimeoutError:
                offline = SILENT
            except (MemorydError, OSError) as exc:
                broken = str(exc)
            except psycopg.Error as exc:
                broken = sentence(exc)
            async with self._turn:
                await self._count_pending()
            self._health = replace(self._health, offline=offline, refused=refused, broken=broken)

    async def news(self) -> None:
        """Return when the server reports a change. Raises SidecarError if it is away."""
        try:
            async with self._connect(is_listening=True) as server:
                if (state := await self._state(server)) is None:
                    raise _AwayError(NO_TEAM.format(self.team))
                await server.execute(sql.SQL("LISTEN {}").format(sql.Identifier(state.channel)))
                # changes before LISTEN and after the last exchange are not notified: report them here, once
                state = await self._state(server) or state
                if (now := state.generation) not in (self._files.generation(), self._reported):
                    self._reported = now
                    return
                # a dead connection reports nothing, so check it by a query at each interval
                while state is not None and state.generation == now:
                    async for _ in server.notifies(timeout=PULSE_SECONDS, stop_after=1):
                        return
                    async with asyncio.timeout(ASK_SECONDS):
                        state = await self._state(server)
        except TimeoutError as exc:
            raise _AwayError(SILENT) from exc
        except psycopg.Error as exc:
            raise _AwayError(sentence(exc)) from exc

    @contextlib.asynccontextmanager
    async def _connect(self, *, is_listening: bool = False) -> AsyncIterator[psycopg.AsyncConnection]:
        options = connection_options(self.place.remote)
        try:
            server = await psycopg.AsyncConnection.connect(**options, autocommit=True)  # type: ignore[arg-type]
        except psycopg.OperationalError as exc:
            raise _AwayError(sentence(exc)) from exc
        async with server:
            login = server.info.user
            if login != self.place.person:
                raise SidecarError(FOREIGN.format(login))
            await server.execute(f"SET statement_timeout = {0 if is_listening else STATEMENT_SECONDS * 1000}")
            yield server

    async def _read_people(self, server: psycopg.AsyncConnection) -> dict[str, UUID]:
        """Return the members of the team, each with the last change of their files."""
        return dict(await query_rows(server, PEOPLE, (self.team,), tuple[str, UUID]))

    async def _send(self, server: psycopg.AsyncConnection) -> str:
        """Exchange own files with the server, including changes by other machines. Return why it refuses them."""
        state = await self._state(server)
        if state is None:
            # a removed member must not see any files of the team
            self._others, self._withheld, self._changed, self._members = {}, {}, {}, ()
            self._refusal = NO_TEAM.format(self.team)
            await self._show()
            raise SidecarError(self._refusal, hint=JOIN_HINT)
        self._refusal, self._is_reader = "", state.role == "read"
        await self._note_server(server, state)
        if state.generation < self._files.generation():
            # the server was restored from an older backup: files missing there were not removed
            async with self._turn:
                await asyncio.to_thread(self._files.note, {})
        if (begun := await asyncio.to_thread(self._files.begun)) is not None:
            # an exchange was interrupted: settle its result before anything is compared
            await self._end(
                begun, is_done=not begun.transaction or await self._has_committed(server, begun.transaction)
            )
        if state.generation == self._compared and not self._health.pending:
            return ""
        refused = await self._send_own(server, state.generation)
        await self._note_server(server, state)
        return refused

    async def _note_server(self, server: psycopg.AsyncConnection, state: TeamState) -> None:
        change = (await self._read_people(server)).get(self.place.person, "")
        async with self._turn:
            await asyncio.to_thread(self._files.see, state.channel, str(change))

    async def _send_own(self, server: psycopg.AsyncConnection, generation: int) -> str:
        """Make own files equal on both sides, part by part. Return why the server refuses them."""
        theirs, tries = await self._read_own(server), TRIES
        while True:
            async with self._turn:
                wanted, step = await asyncio.to_thread(self._files.planned, theirs)
            if not step.files:
                self._compared = generation
                return ""
            try:
                step = await self._write(server, theirs, wanted, step)
            except psycopg.errors.InsufficientPrivilege:
                return READS_ONLY
            except _OtherWasFasterError:
                if not (tries := tries - 1):
                    return FASTER
                theirs = await self._read_own(server)
                continue
            await self._end(step)
            if wanted != theirs:
                self._health = replace(self._health, pushed_at=datetime.now(UTC))
            theirs = wanted

    async def _has_committed(self, server: psycopg.AsyncConnection, transaction: str) -> bool:
        """Return whether the server committed a transaction. An old one, whose status is lost, counts as committed."""
        try:
            row = await (await server.execute(STATUS, (transaction,))).fetchone()
        except psycopg.errors.InvalidParameterValue:
            # the server was restored from an older backup, which has no such transaction
            return False
        if row == ("in progress",):
            raise _AwayError(UNFINISHED)
        return row != ("aborted",)

    async def _end(self, step: BegunExchange, *, is_done: bool = True) -> None:
        async with self._turn:
            await asyncio.to_thread(self._files.end, step, is_done=is_done)

    async def _state(self, server: psycopg.AsyncConnection) -> "TeamState | None":
        """Return the state of the team on the server; None if the person is not in it."""
        try:
            rows = await query_rows(server, TEAM_STATE, (self.team,), TeamState)
        except (psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName):
            return None
        return rows[0] if rows else None

    async def _read_own(self, server: psycopg.AsyncConnection) -> dict[str, bytes]:
        """Return own files on the server. Bytes that are known from the last exchange are not requested again."""
        async with self._turn:
            before = await asyncio.to_thread(self._files.sent)
        known = {sha256(data).digest(): data for data in before.values()}
        listed = await query_rows(server, LISTED, (self.team, 0, []), ListedFile)
        # do not trust the server: no path may lead out of the folder of own files
        rows = [(file.path, file.digest) for file in listed if self.place.is_mine(file.path)]
        theirs = {path: data for path, digest in rows if (data := known.get(digest)) is not None}
        unknown = [(self.place.person, path) for path, _ in rows if path not in theirs]
        return theirs | {path: data async for (_, path), data in self._bodies(server, unknown)}

    async def _bodies(
        self, server: psycopg.AsyncConnection, keys: Sequence[FileKey]
    ) -> AsyncIterator[tuple[FileKey, bytes]]:
        for at in range(0, len(keys), BATCH):
            part = keys[at : at + BATCH]
            wanted = self.team, [person for person, _ in part], [path for _, path in part]
            for person, path, body in await query_rows(server, BODIES, wanted, tuple[str, str, bytes]):
                # ignore files that were not requested
                if (person, path) in part:
                    yield (person, path), body[: MAX_FILE_BYTES + 1]

    async def _write(
        self,
        server: psycopg.AsyncConnection,
        theirs: Mapping[str, bytes],
        wanted: Mapping[str, bytes],
        step: BegunExchange,
    ) -> BegunExchange:
        """Write all changed own rows in one transaction, each only if it is unchanged since it was read.

        Return the step to be ended afterwards; it is stored here before the server commits.
        """
        if wanted == theirs:
            await asyncio.to_thread(self._files.begin, step)
            return step
        rows = [
            (self.team, path, None if (was := theirs.get(path)) is None else sha256(was).digest(), wanted.get(path))
            for path in sorted(theirs.keys() | wanted.keys())
            if theirs.get(path) != wanted.get(path)
        ]
        async with server.transaction(), server.cursor() as cursor:
            # pipelined: separate statements would each wait for the network
            await cursor.executemany(PUT, rows, returning=True)
            for _ in rows:
                if await cursor.fetchone() != (True,):
                    raise _OtherWasFasterError
                cursor.nextset()
            row = await (await server.execute(TRANSACTION)).fetchone()
            step = replace(step, transaction=str(row[0]) if row else "")
            await asyncio.to_thread(self._files.begin, step)
        return step

    async def _fetch(self, server: psycopg.AsyncConnection) -> None:
        state = await self._state(server)
        if state is not None and self._health.fetched_at is not None and state.generation == self._files.generation():
            # the numbers by person may have changed
            await self._show()
            self._health = replace(self._health, fetched_at=datetime.now(UTC))
            return
        people = await self._read_people(server)
        others = people.keys() - {self.place.person}
        unchanged = {person for person in others if self._changed.get(person) == people[person]}
        rows = await query_rows(server, LISTED, (self.team, PERSON_FILES + 1, sorted(unchanged)), ListedFile)
        before = await self._other_files()
        files = {key: file for key, file in before.items() if key[0] in unchanged}
        withheld = {key: why for key, why in self._withheld.items() if key[0] in unchanged}
        seen, size_of, count = dict[FileKey, bytes](), Counter[str](), Counter[str]()
        for person, path, digest, size in rows:
            place = shared_file(path)
            if place is None or place.person != person:
                withheld[person, path] = NO_PLACE
            elif size > MAX_FILE_BYTES:
                withheld[person, path] = TOO_LARGE
            elif (
                len(files) + len(seen) >= TEAM_FILES
                or size_of[person] + size > MAX_PERSON_BYTES
                or count[person] >= PERSON_FILES
            ):
                # own files, too: the others do not see them
                withheld[person, path] = TOO_MUCH.format(person)
            else:
                size_of[person] += size
                count[person] += 1
                if person != self.place.person:
                    seen[person, path] = digest
        self._others, self._withheld = files | await self._download(server, seen), withheld
        self._members, self._changed = people, people
        await self._show()
        if state is not None:
            await asyncio.to_thread(self._files.note_generation, state.generation)
        self._health = replace(self._health, fetched_at=datetime.now(UTC))

    async def _download(
        self, server: psycopg.AsyncConnection, seen: Mapping[FileKey, bytes]
    ) -> dict[FileKey, tuple[bytes, bytes]]:
        """Return the listed files; bytes that are known are not requested again."""
        before = await self._other_files()
        files = {key: before[key] for key, digest in seen.items() if key in before and before[key][0] == digest}
        async for key, data in self._bodies(server, [key for key in seen if key not in files]):
            # also into `_others`, so that the download is kept if this exchange fails
            before[key] = files[key] = (seen[key], data)
        return files

    async def _other_files(self) -> dict[FileKey, tuple[bytes, bytes]]:
        if self._others is None:
            self._others = await asyncio.to_thread(self._view.of_others, self.place.person)
        return self._others

    async def _show(self) -> None:
        others, own = await self._other_files(), await asyncio.to_thread(self._files.own)
        reasons = {path: why for (_, path), why in self._withheld.items()}
        shown, before = dict[str, ShownFile](), self._judged
        self._judged = {}
        for path, data in (*((path, data) for (_, path), (_, data) in others.items()), *own.items()):
            if (known := before.get(path)) is None or known[0] is not data:
                known = data, _why_not_shown(data), shared_file(path)
            self._judged[path] = known
            if known[1]:
                reasons[path] = known[1]
            elif known[2] is not None:
                shown[path] = ShownFile(known[2], data)
        files = ShownFiles(shown, withheld_sentences(reasons))
        async with self._viewing:
            has_changed = await asyncio.to_thread(self._view.write, files)
        if has_changed:
            self._on_shown()
        people = dict.fromkeys(self._members, 0) | dict(self._view.files)
        self._health = replace(self._health, people=people, withheld=(*files.withheld, *self._view.unwritten))

    async def _count_pending(self) -> None:
        own, sent = await asyncio.to_thread(self._files.own), await asyncio.to_thread(self._files.sent)
        pending = sum(own.get(path) != sent.get(path) for path in own.keys() | sent.keys())
        since = self._health.waits_since or time.time()
        self._health = replace(self._health, pending=pending, waits_since=since if pending else None)


class _AwayError(SidecarError):
    """The server does not answer."""


class _OtherWasFasterError(Exception):
    """A row on the server has changed since it was read."""


def _why_not_shown(data: bytes) -> str:
    text, note = decode(data)
    if len(data) > MAX_FILE_BYTES:
        return TOO_LARGE
    return NO_TEXT if note else CONFLICT if is_unmerged(text) else ""
