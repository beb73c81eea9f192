"""The conversations of one agent that are not to be remembered: what the ledger withholds, and a source without that.

Until the ledger was read, reading or storing a conversation has to wait. A transcript is excluded by its name, and so
is one of another name that begins with all of what was forgotten. Session keys and contents are stored as hashes,
keyed with a secret of the ledger.
"""

import asyncio
import contextlib
import hmac
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.access import one_spelling, read_key
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
    """What one agent's ledger withholds: asked from any thread, changed on the event loop alone."""

    agent: str
    ledger: Ledger
    before: "WithheldConversations | None" = None
    """Of the ledger that the agent had before, shared or its own: that has another key, and counts for good."""
    trouble: str = ""
    """Why it is not known what is withheld; empty if it is known."""
    version: int = 0
    """Counts the changes."""
    _known: _Known | None = None
    _key: bytes = b""

    @property
    def is_known(self) -> bool:
        return self._known is not None

    async def load(self) -> None:
        """Read the ledger, unless that was done; raises StoreError."""
        if self._known is not None:
            return
        try:
            if self.before is not None:
                await self.before.load()
            self._key, rows = await self.ledger.withheld(self.agent)
        except (StoreError, OSError) as exc:
            self.trouble = f"nobody knows which conversations are not to be remembered: {exc}"
            raise StoreUnavailable(self.trouble) from exc
        self._keep({(one.kind, one.name): one for one in rows})
        self.trouble = ""

    async def run(self, retry_seconds: float = RETRY_SECONDS) -> None:
        """Read the ledger, again and again until it could be read; until cancelled."""
        while True:
            with contextlib.suppress(StoreError):
                await self.load()
            await asyncio.sleep(retry_seconds)

    def withheld_transcript(self, path: RelativePath) -> WithheldName | None:
        """Return why a transcript is withheld by its name, None if it is not; raises StoreUnavailable."""
        named = (one for one in self.withheld_transcripts() if one.name == path)
        return max(named, key=lambda one: (one.is_forgotten, one.since), default=None)

    def withholds_path(self, path: RelativePath) -> bool:
        """Tell whether nothing of a conversation may be read, by its path; raises StoreUnavailable."""
        known = self._all()
        is_here = (WithheldKind.TRANSCRIPT, path) in known or (WithheldKind.PENDING, path) in known
        return is_here or (self.before is not None and self.before.withholds_path(path))

    def forgotten_transcript_in(self, file: Path, *, other_than: str = "") -> WithheldName | None:
        """Return the forgotten transcript, of another name than `other_than`, with which this file begins.

        Blocks; raises OSError, StoreUnavailable.
        """
        forgotten = (
            one for one in self._all().values() if one.is_forgotten and one.head_bytes and one.name != other_than
        )
        found = next((one for one in forgotten if self._is_beginning(file, one)), None)
        if found is None and self.before is not None:
            return self.before.forgotten_transcript_in(file, other_than=other_than)
        return found

    def withholds(self, path: RelativePath, file: Path | None) -> bool:
        """Tell whether nothing of a transcript may be read, by its path or what its file says; in doubt nothing may.

        Blocks; raises StoreUnavailable.
        """
        try:
            return self.withholds_path(path) or (file is not None and self.forgotten_transcript_in(file) is not None)
        except OSError:
            # in doubt; the next look may know
            return True

    def begins_with(self, file: Path, one: WithheldName) -> bool:
        """Tell whether a file begins with what was forgotten. Blocks; raises OSError."""
        return self._is_beginning(file, one) or (self.before is not None and self.before.begins_with(file, one))

    def withheld_transcripts(self) -> list[WithheldName]:
        """Return all transcripts that are withheld by name."""
        return self._of_kind(WithheldKind.TRANSCRIPT)

    def has_key(self, key: str) -> bool:
        """Tell whether what is said under a session key is not to be remembered; raises StoreUnavailable."""
        return bool(self._marks_of(key)) or (self.before is not None and self.before.has_key(key))

    async def withholds_key(self, key: str) -> bool:
        """Tell the same once the ledger was read; raises StoreUnavailable."""
        await self.load()
        return self.has_key(key)

    def count_keys(self) -> int:
        """Return how many session keys are withheld."""
        return len({one.name for kind in _KEY_KINDS for one in self._of_kind(kind)})

    def marked_by_agent(self) -> list[WithheldName]:
        """Return the marks of session keys that the agent made itself, the newest first."""
        return sorted(self._of_kind(WithheldKind.AGENTS_KEY), key=lambda one: one.since, reverse=True)

    def unfinished(self) -> list[WithheldName]:
        """Return the conversations whose forgetting began and did not end."""
        return self._of_kind(WithheldKind.PENDING)

    async def withhold_transcript(self, path: RelativePath, file: Path | None, *, is_forgotten: bool) -> None:
        """Have a transcript never be read again; if it is forgotten under any name, by what its file says.

        Raises StoreError, Denied.
        """
        await self._ready()
        begins = Beginning()
        if file is not None and is_forgotten:
            # one that cannot be read is withheld by its name alone
            with contextlib.suppress(OSError):
                begins = await asyncio.to_thread(beginning_of, file, self._content_key)
        await self._put(
            WithheldName(WithheldKind.TRANSCRIPT, path, time.time(), is_forgotten, begins.size, begins.digests)
        )

    async def release_transcript(self, path: RelativePath) -> bool:
        """Have a transcript be read again; return whether it was withheld. Raises StoreError, Denied."""
        return await self._release(WithheldKind.TRANSCRIPT, path)

    async def withhold_key(self, key: str, *, is_owners: bool = True) -> None:
        """Have nothing be remembered of what is said under a session key; raises StoreError, Denied, InvalidRequest.

        A key that the owner withholds is not stored again for the agent, whose own are limited in number.
        """
        await self._ready()
        # what the ledger before holds counts for good, and is not counted twice
        older = [] if self.before is None else self.before._marks_of(key)
        if (not is_owners and self.has_key(key)) or any(kind is WithheldKind.KEY for kind, _ in older):
            return
        kind = WithheldKind.KEY if is_owners else WithheldKind.AGENTS_KEY
        if not await self._put(WithheldName(kind, self._hashed_key(key), time.time())):
            most, whose = (MAX_KEYS, "") if is_owners else (MAX_AGENTS_KEYS, " by the agent")
            how = "sessions remember --session-key KEY --yes" if is_owners else "sessions remember --agents-marks --yes"
            raise InvalidRequest(
                f"{most:,} session keys are marked{whose} already", hint=f"the owner takes some back: memoryctl {how}"
            )

    async def release_key(self, key: str) -> bool:
        """Take that back; return whether it was so. Raises StoreError, Denied."""
        # the hash needs what the ledger has
        await self.load()
        was_so = self.before is not None and await self.before.release_key(key)
        return any([await self._release(kind, name) for kind, name in self._marks_of(key)]) or was_so

    async def release_marks_of_agent(self) -> int:
        """Take back all marks that the agent made itself; return how many. Raises StoreError, Denied."""
        await self.load()
        return sum([await self._release(one.kind, one.name) for one in self.marked_by_agent()])

    def note_change(self) -> None:
        """Have all transcripts be looked at again: a mark has changed that is stored elsewhere."""
        self.version += 1

    async def begin_forgetting(self, path: RelativePath) -> None:
        """Note that a conversation is to be forgotten, so that a kill does not end it; raises StoreError, Denied."""
        await self._ready()
        await self._put(WithheldName(WithheldKind.PENDING, path, time.time(), True))

    async def end_forgetting(self, path: RelativePath) -> None:
        """Drop that note, so that no trace of the session stays; raises StoreError, Denied."""
        await self._release(WithheldKind.PENDING, path)

    async def _ready(self) -> None:
        await self.load()
        if not self._key:
            self._key, _ = await self.ledger.withheld(self.agent, makes_file=True)

    async def _put(self, one: WithheldName) -> bool:
        if not await self.ledger.withhold(self.agent, one, self._key):
            return False
        before = self._all().get((one.kind, one.name))
        if before is not None and before.is_forgotten:
            # as the ledger does it: a mark does not make what was forgotten a mere mark
            one = replace(one, is_forgotten=True)
            one = one if one.head_bytes else replace(one, head_bytes=before.head_bytes, head_hash=before.head_hash)
        self._keep({**self._all(), (one.kind, one.name): one})
        return True

    async def _release(self, kind: WithheldKind, name: str) -> bool:
        await self.load()
        was_so = self.before is not None and await self.before._release_known(kind, name)
        is_released = await self.ledger.release(self.agent, kind, name) or was_so
        self._keep({key: one for key, one in self._all().items() if key != (kind, name)})
        return is_released

    async def _release_known(self, kind: WithheldKind, name: str) -> bool:
        return (kind, name) in self._all() and await self._release(kind, name)

    def _keep(self, known: _Known) -> None:
        # as a whole, since other threads read it; `version` last: they compare it before they read
        self._known = MappingProxyType(dict(known))
        self.version += 1

    def _all(self) -> _Known:
        if self._known is None:
            raise StoreUnavailable(self.trouble or "it is not known yet which conversations are not to be remembered")
        return self._known

    def _of_kind(self, kind: WithheldKind) -> list[WithheldName]:
        before = [] if self.before is None else self.before._of_kind(kind)
        return [*before, *(one for one in self._all().values() if one.kind is kind)]

    def _is_beginning(self, file: Path, one: WithheldName) -> bool:
        return Beginning(one.head_bytes, one.head_hash).is_of(file, self._content_key)

    def _marks_of(self, key: str) -> list[tuple[WithheldKind, str]]:
        # the spelling as written, too: older versions stored that
        names = dict.fromkeys([self._hashed_key(key), self._hashed(read_key(key).raw)])
        known = self._all()
        return [(kind, name) for name in names for kind in _KEY_KINDS if (kind, name) in known]

    def _hashed_key(self, key: str) -> str:
        # one conversation, however its key is spelt
        return self._hashed(one_spelling(key, self.agent))

    def _hashed(self, spelt: str) -> str:
        return self._digest(b"key\0" + spelt.encode("utf-8", "replace")).hex()

    @property
    def _content_key(self) -> bytes:
        """What hashes of contents are keyed with: another one for each agent."""
        return self._digest(b"content")

    def _digest(self, data: bytes) -> bytes:
        return hmac.digest(self._key, self.agent.encode() + b"\0" + data, "sha256")


class SourceWithoutWithheld(Struct, frozen=True):
    """A source without what is withheld; raises StoreUnavailable until that is known."""

    inner: ConversationSource
    withheld: WithheldConversations

    @property
    def prefix(self) -> str:
        """Of the paths of its conversations."""
        return self.inner.prefix

    def look(self, read: Mapping[RelativePath, str], *, is_forced: bool) -> SourceListing:
        """List the source without what is withheld, so that its rows are deleted."""
        found = self.inner.look(read, is_forced=is_forced)
        hidden = {path for path in found.present if self.withheld.withholds_path(path)}
        return replace(found, present=found.present - hidden, due=[path for path in found.due if path not in hidden])

    def read_on(self, path: RelativePath, tail: str) -> ReadStep | None:
        """Read on what may be read; nothing of what is withheld since the look."""
        return None if self.withheld.withholds_path(path) else self.inner.read_on(path, tail)
