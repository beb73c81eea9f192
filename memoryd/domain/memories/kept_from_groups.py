"""What a core block keeps from chats of several people, told apart in whatever is recalled for them.

Pins are what is shown of somebody everywhere but there. The same words in a summary, on a page or in a note, and the
number or address of a pin in other words, are kept back with it. So is what memoryd wrote of a conversation: its turns
are told to those alone who took part.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memoryd.domain.documents import CORE_FILES
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.forgetting import is_of_session
from memoryd.domain.memories.identity import MemoryId
from memoryd.domain.memories.said_words import SaidWords

_NUMBER: Final = re.compile(r"\d[\d\s().-]{5,40}[\dXx]")
_ADDRESS: Final = re.compile(r"[^\s@<>]{1,64}@[^\s@<>]{1,120}\.\w{2,24}")
_LAST_DIGITS: Final = 7
"""By which two ways to write a number, with a country or without, are known as one."""
_MARKS: Final = ".!?。！？ "


@dataclass(frozen=True, slots=True)
class KeptFromGroups:
    """Pinned memories, what they say, and the numbers and addresses in it; and summaries and ends of sessions."""

    pins: frozenset[MemoryId]
    of_sessions: frozenset[MemoryId]
    said: tuple[SaidWords, ...]
    identifiers: frozenset[str]

    def keeps(self, text: str, *, path: str = "", memory: MemoryId | None = None) -> bool:
        """Tell whether something may not be told: a pin, what says the same, text of the core file, or of a session."""
        if memory in self.pins or memory in self.of_sessions or path in CORE_FILES:
            return True
        return any(one.stand_in(text) for one in self.said) or not self.identifiers.isdisjoint(_identifiers(text))


def kept_from_groups(memories: Iterable[Memory]) -> KeptFromGroups:
    """Return what is kept back of memories, and because of the pins among them."""
    memories = list(memories)
    pins = [memory for memory in memories if any(one.line.attributes.is_pinned for one in memory.sources)]
    texts = [source.line.text for memory in pins for source in memory.sources]
    return KeptFromGroups(
        frozenset(memory.id for memory in pins),
        frozenset(memory.id for memory in memories if is_of_session(memory.line)),
        tuple(SaidWords(text) for text in dict.fromkeys(text.strip().rstrip(_MARKS) for text in texts)),
        frozenset(found for text in texts for found in _identifiers(text)),
    )


def _identifiers(text: str) -> set[str]:
    numbers = ("".join(filter(str.isalnum, found)) for found in _NUMBER.findall(text))
    return {number[-_LAST_DIGITS:].lower() for number in numbers if len(number) >= _LAST_DIGITS} | {
        found.lower() for found in _ADDRESS.findall(text)
    }
