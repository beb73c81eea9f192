"""The conversations of one agent that are not to be remembered, by the ledger, and a source without them.

Until the ledger is read, reading or storing a conversation must wait. A transcript is excluded by its name. A
transcript of another name is excluded if it begins with the complete content of a forgotten one. Session keys and
contents are stored as hashes, keyed with a secret of the ledger.
"""

import asyncio
import contextlib
import hmac
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.access import canonical_key, read_key
from memoryd.domain.documents import RelativePath
from memoryd.errors import InvalidRequest, StoreError, StoreUnavailable
from memoryd.sessions.conversation_source import ConversationSource, ReadStep, SourceListing
from memoryd.sessions.transcripts.reading import Beginning, beginning_of
from memoryd.store.ledger.conversations import MAX_AGENTS_KEYS, MAX_KEYS, WithheldKind, WithheldName
from memoryd.store.ledger.ledger import Ledger

RETRY_SECONDS = 10.0

_KEY_KINDS = (WithheldKind.KEY, WithheldKind.AGENTS_KEY)
_Known = Mapping[tuple[WithheldKind, str], WithheldName]


class WithheldConversations(Struct, eq=False):
    """The conversations withheld by an agent's ledger. Read from any thread, changed on the event loop only."""

    agent: str
    ledger: Ledger
    previous: "WithheldConversations | None" = None
    """The same for the agent's previous ledger, shared or its own: it has another key and stays valid."""
    trouble: str = ""
    """Why the withheld conversations are not known; empty if they are."""
    version: int = 0
    """Number of changes."""
    _known: _Known | None = None
    _key: bytes = b""

    @property
    def is_known(self) -> bool:
        return self._known is not None

    async def load(self) -> None:
        """Read the ledger if it was not read yet. Raises StoreError."""
        if self._known is not None:
            return
        try:
            if self.previous is not None:
                await self.previous.load()
            self._key, rows = await self.ledger.withheld(self.agent)
        except (StoreError, OSError) as exc:
            self.trouble = f"it is not known which conversations are not to be remembered: {exc}"
            raise StoreUnavailable(self.trouble) from exc
        self._set_known({(row.kind, row.name): row for row in rows})
        self.trouble = ""

    async def run(self, retry_seconds: float = RETRY_SECONDS) -> None:
        """Read the ledger, and retry until it can be read; runs until cancelled."""
        while True:
            with contextlib.suppress(StoreError):
                await self.load()
            await asyncio.sleep(retry_seconds)

    def withheld_transcript(self, path: RelativePath) -> WithheldName | None:
        """Return the entry that withholds a transcript by its name, None if there is none. Raises StoreUnavailable."""
        entries = (entry for entry in self.withheld_transcripts() if entry.name == path)
        return max(entries, key=lambda entry: (entry.is_forgotten, entry.since), default=None)

    def withholds_path(self, path: RelativePath) -> bool:
        """Return whether a conversation is withheld by its path. Raises StoreUnavailable."""
        kinds = (WithheldKind.TRANSCRIPT, WithheldKind.PENDING)
        return any((kind, path) in ledger._all() for ledger in self._ledgers() for kind in kinds)

    def forgotten_transcript_in(self, file: Path, *, other_than: str = "") -> WithheldName | None:
        """Return the forgotten transcript whose content this file begins with, unless its name is `other_than`.

        Blocks; raises OSError, StoreUnavailable.
        """
        for ledger in self._ledgers():
            for entry in ledger._all().values():
                is_candidate = entry.is_forgotten and entry.head_bytes and entry.name != other_than
                if is_candidate and ledger._is_beginning(file, entry):
                    return entry
        return None

    def withholds(self, path: RelativePath, file: Path | None) -> bool:
        """Return whether a transcript is withheld by its path or by the content of its file; True if in doubt.

        Blocks; raises StoreUnavailable.
        """
        try:
            return self.withholds_path(path) or (file is not None and self.forgotten_transcript_in(file) is not None)
        except OSError:
            # in doubt; the next scan may succeed
            return True

    def begins_with(self, file: Path, entry: WithheldName) -> bool:
        """Return whether a file begins with the content of a forgotten transcript. Blocks; raises OSError."""
        return any(ledger._is_beginning(file, entry) for ledger in self._ledgers())

    def withheld_transcripts(self) -> list[WithheldName]:
        """Return all transcripts that are withheld by name."""
        return self._of_kind(WithheldKind.TRANSCRIPT)

    def has_key(self, key: str) -> bool:
        """Return whether messages of a session key are not to be remembered. Raises StoreUnavailable."""
        return any(ledger._marks_of(key) for ledger in self._ledgers())

    async def withholds_key(self, key: str) -> bool:
        """Read the ledger if needed, and return `has_key`. Raises StoreUnavailable."""
        await self.load()
        return self.has_key(key)

    def count_keys(self) -> int:
        """Return the number of withheld session keys."""
        return len({entry.name for kind in _KEY_KINDS for entry in self._of_kind(kind)})

    def marked_by_agent(self) -> list[WithheldName]:
        """Return the session keys that the agent itself marked, newest first."""
        return sorted(self._of_kind(WithheldKind.AGENTS_KEY), key=lambda entry: entry.since, reverse=True)

    def unfinished(self) -> list[WithheldName]:
        """Return the conversations whose forgetting was begun but not completed."""
        return self._of_kind(WithheldKind.PENDING)

    async def withhold_transcript(self, path: RelativePath, file: Path | None, *, is_forgotten: bool) -> None:
        """Withhold a transcript by its name; if it is forgotten, also by its content, under any name.

        Raises StoreError, Denied.
        """
        await self._ready()
        begins = Beginning()
        if file is not None and is_forgotten:
            # a file that cannot be read is withheld by its name only
            with contextlib.suppress(OSError):
                begins = await asyncio.to_thread(beginning_of, file, self._content_key)
        await self._put(
            WithheldName(WithheldKind.TRANSCRIPT, path, time.time(), is_forgotten, begins.size, begins.digests)
        )

    async def release_transcript(self, path: RelativePath) -> bool:
        """Allow a transcript to be read again. Return whether it was withheld. Raises StoreError, Denied."""
        return await self._release(WithheldKind.TRANSCRIPT, path)

    async def withhold_key(self, key: str, *, is_owners: bool = True) -> None:
        """Withhold all messages of a session key.

        Raises StoreError, Denied, or InvalidRequest if there are too many keys. A key withheld by the owner is not
        stored again for the agent, whose keys have a limit of their own.
        """
        await self._ready()
        # keys of the previous ledger stay valid and are not stored twice
        older = [] if self.previous is None else self.previous._marks_of(key)
        if (not is_owners and self.has_key(key)) or any(kind is WithheldKind.KEY for kind, _ in older):
            return
        kind = WithheldKind.KEY if is_owners else WithheldKind.AGENTS_KEY
        if not await self._put(WithheldName(kind, self._hash_key(key), time.time())):
            most, whose = (MAX_KEYS, "") if is_owners else (MAX_AGENTS_KEYS, " by the agent")
            how = "sessions remember --session-key KEY --yes" if is_owners else "sessions remember --agents-marks --yes"
            raise InvalidRequest(
                f"{most:,} session keys are marked{whose} already", hint=f"the owner takes some back: memoryctl {how}"
            )

    async def release_key(self, key: str) -> bool:
        """Allow messages of a session key again. Return whether it was withheld. Raises StoreError, Denied."""
        # the hash needs the secret of the ledger
        await self.load()
        was_withheld = self.previous is not None and await self.previous.release_key(key)
        return any([await self._release(kind, name) for kind, name in self._marks_of(key)]) or was_withheld

    async def release_marks_of_agent(self) -> int:
        """Remove all marks that the agent itself made. Return their number. Raises StoreError, Denied."""
        await self.load()
        return sum([await self._release(entry.kind, entry.name) for entry in self.marked_by_agent()])

    def note_change(self) -> None:
        """Cause all transcripts to be checked again, since a mark stored elsewhere has changed."""
        self.version += 1

    async def begin_forgetting(self, path: RelativePath) -> None:
        """Store that a conversation is being forgotten, so that it is completed after a kill.

        Raises StoreError, Denied.
        """
        await self._ready()
        await self._put(WithheldName(WithheldKind.PENDING, path, time.time(), True))

    async def end_forgetting(self, path: RelativePath) -> None:
        """Remove the entry of `begin_forgetting`, so that no trace of the session stays. Raises StoreError, Denied."""
        await self._release(WithheldKind.PENDING, path)

    async def _ready(self) -> None:
        await self.load()
        if not self._key:
            self._key, _ = await self.ledger.withheld(self.agent, makes_file=True)

    async def _put(self, entry: WithheldName) -> bool:
        if not await self.ledger.withhold(self.agent, entry, self._key):
            return False
        before = self._all().get((entry.kind, entry.name))
        if before is not None and before.is_forgotten:
            # as in the ledger: a later mark does not undo a forgetting
            entry = replace(entry, is_forgotten=True)
            if not entry.head_bytes:
                entry = replace(entry, head_bytes=before.head_bytes, head_hash=before.head_hash)
        self._set_known({**self._all(), (entry.kind, entry.name): entry})
        return True

    async def _release(self, kind: WithheldKind, name: str) -> bool:
        await self.load()
        before = self.previous
        was_withheld = before is not None and (kind, name) in before._all() and await before._release(kind, name)
        is_released = await self.ledger.release(self.agent, kind, name) or was_withheld
        self._set_known({key: entry for key, entry in self._all().items() if key != (kind, name)})
        return is_released

    def _set_known(self, known: _Known) -> None:
        # replaced as a whole, since other threads read it; `version` last, since they compare it before they read
        self._known = MappingProxyType(dict(known))
        self.version += 1

    def _all(self) -> _Known:
        if self._known is None:
            raise StoreUnavailable(self.trouble or "it is not known yet which conversations are not to be remembered")
        return self._known

    def _ledgers(self) -> Iterator["WithheldConversations"]:
        """Yield this object and those of the previous ledgers."""
        yield self
        if self.previous is not None:
            yield from self.previous._ledgers()

    def _of_kind(self, kind: WithheldKind) -> list[WithheldName]:
        before = [] if self.previous is None else self.previous._of_kind(kind)
        return [*before, *(entry for entry in self._all().values() if entry.kind is kind)]

    def _is_beginning(self, file: Path, entry: WithheldName) -> bool:
        return Beginning(entry.head_bytes, entry.head_hash).is_of(file, self._content_key)

    def _marks_of(self, key: str) -> list[tuple[WithheldKind, str]]:
        # also the spelling as written, which older versions stored
        names = dict.fromkeys([self._hash_key(key), self._hash(read_key(key).raw)])
        known = self._all()
        return [(kind, name) for name in names for kind in _KEY_KINDS if (kind, name) in known]

    def _hash_key(self, key: str) -> str:
        # all spellings of a key are the same conversation
        return self._hash(canonical_key(key, self.agent))

    def _hash(self, spelt: str) -> str:
        return self._digest(b"key\0" + spelt.encode("utf-8", "replace")).hex()

    @property
    def _content_key(self) -> bytes:
        """The key for hashes of contents; each agent has a different one."""
        return self._digest(b"content")

    def _digest(self, data: bytes) -> bytes:
        return hmac.digest(self._key, self.agent.encode() + b"\0" + data, "sha256")


class SourceWithoutWithheld(Struct, frozen=True):
    """A source without withheld conversations. Raises StoreUnavailable until these are known."""

    inner: ConversationSource
    withheld: WithheldConversations

    @property
    def prefix(self) -> str:
        """Prefix of the paths of its conversations."""
        return self.inner.prefix

    def scan(self, read: Mapping[RelativePath, str], *, is_forced: bool) -> SourceListing:
        """List the source without withheld conversations, so that their rows are deleted."""
        listing = self.inner.scan(read, is_forced=is_forced)
        hidden = {path for path in listing.present if self.withheld.withholds_path(path)}
        due = [path for path in listing.due if path not in hidden]
        return replace(listing, present=listing.present - hidden, due=due)

    def read_on(self, path: RelativePath, tail: str) -> ReadStep | None:
        """Read the next step; None if the conversation was withheld since the scan."""
        return None if self.withheld.withholds_path(path) else self.inner.read_on(path, tail)
