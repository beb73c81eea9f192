"""What sessions are still to be told: answers that came too late are told with the next one, and nothing is told twice.

A hook that gave up sends its request once more as `unread`. Then what its answer was to tell is owed: the stable block,
if that was to be told, and what is recalled for the message. The message is held, not the answer: what is recalled is
looked up again when it is told, so that nothing is told that has changed or was forgotten meanwhile. All of it is in
memory alone, and gone after a restart: then a stable block that was not read is not told again.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memoryd.memory.capture.capturing import SESSIONS_MAX
from memoryd.memory.forgetting.planning import drop_with_the_others

TEXTS_MAX: Final = 2
"""Messages of a session for which something is owed, the latest: more has no place in one prompt."""
FAILURES_MAX: Final = 32
TEXT_CHARS: Final = 4_000


class Owed(Struct, frozen=True):
    """What a session is to be told beside its next answer: its stable block, and what is recalled for messages."""

    is_start: bool = False
    texts: tuple[str, ...] = ()

    def with_texts(self, texts: Sequence[str]) -> "Owed":
        """Return the same with more messages, the latest at the end."""
        short = (text[:TEXT_CHARS] for text in (*self.texts, *texts) if text.strip())
        return replace(self, texts=tuple(dict.fromkeys(short))[-TEXTS_MAX:])


class _Session(Struct):
    owed: Owed = Owed()
    sent: Owed = Owed()
    """What went with the last answer, which may come to be unread."""
    told_for: Owed = Owed()
    """The messages for which something was told: an agent that compacts what it holds forgets that."""
    failures: tuple[str, ...] = ()


class Undelivered:
    """What each session of one agent is still to be told, by its key; without a key nothing is held."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        drop_with_the_others(self)

    def take(self, key: str, *, is_start: bool = False) -> Owed:
        """Return what is to be told with an answer that is made now; `is_start`: it tells the stable block anyway."""
        session = self._of(key)
        session.sent = replace(session.owed, is_start=is_start or session.owed.is_start)
        session.owed = Owed()
        return session.sent

    def owe(self, key: str, text: str) -> None:
        """Owe what is recalled for a message."""
        session = self._of(key)
        session.owed = session.owed.with_texts([text])

    def owe_unread(self, key: str, text: str = "", *, is_start: bool = False) -> None:
        """Owe what the last answer told, which nobody read, the stable block too, or what is recalled for a message."""
        session = self._of(key)
        is_start = is_start or session.owed.is_start or session.sent.is_start
        session.owed = Owed(is_start).with_texts([*session.sent.texts, *session.owed.texts, text])
        session.sent = Owed()

    def owe_all(self, key: str) -> None:
        """Owe the stable block and what was told last: the agent shortens what it holds of the session."""
        session = self._of(key)
        session.owed = replace(session.owed.with_texts(session.told_for.texts), is_start=True)
        session.sent, session.failures = Owed(), ()

    def note_told(self, key: str, text: str) -> None:
        """Note that something was told for a message."""
        session = self._of(key)
        session.told_for = session.told_for.with_texts([text])

    def is_new_failure(self, key: str, failure: str) -> bool:
        """Tell whether a session had no such failure before, and note it."""
        session = self._of(key)
        if failure in session.failures:
            return False
        session.failures = (*session.failures, failure)[-FAILURES_MAX:]
        return True

    def _of(self, key: str) -> _Session:
        if not key:
            return _Session()
        session = self._sessions.setdefault(key, _Session())
        self._sessions.move_to_end(key)
        while len(self._sessions) > SESSIONS_MAX:
            self._sessions.popitem(last=False)
        return session

    def drop_texts(self) -> None:
        """Know no message any more; stable blocks are owed as before."""
        for session in self._sessions.values():
            session.owed, session.sent = Owed(session.owed.is_start), Owed(session.sent.is_start)
            session.told_for, session.failures = Owed(), ()
