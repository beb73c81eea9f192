"""Which captured memories are pinned, and how many of these stand in the core block: names and one's own numbers.

A pin stands before every session, so a name needs a sign that it is told to the agent: a greeting, a request, or a
question for it in the answer before. `Call me Ishmael.` alone may be a line of a book.
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Final

from memoryd.domain.memories.attributes import Provenance
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.capture.chinese_forms import CHINESE_FORMS, chinese_starts
from memoryd.domain.memories.capture.english_forms import ENGLISH_FORMS, english_starts
from memoryd.domain.memories.capture.identifiers import found_identifier
from memoryd.domain.memories.capture.statement_forms import found_form
from memoryd.domain.memories.identity import MemoryId
from memoryd.domain.memories.kinds import Kind

PINS_OF_A_KIND: Final = 3
"""Captured pins of one kind, names or phone numbers, that stand in the core block; the newest."""
NOT_ADDRESSED: Final = "not pinned: nothing says that this name is told to the agent"
NAME: Final = "name"
_NAMES: Final = tuple(form for form in (*ENGLISH_FORMS, *CHINESE_FORMS) if form.is_pinned)
NAME_FORMS: Final = frozenset(form.name for form in _NAMES)
_ADDRESSES: Final = re.compile(
    r"\b(?:hi|hello|hey|hiya|howdy|good (?:morning|afternoon|evening|day)|please|pls|thanks|thank you|nice to meet"
    r"|you (?:can|may|could|should)|from now on|for short|in (?:the )?future|by the way|btw|just call|fyi"
    r"|let me introduce|for the record|(?:just )?so you know)\b"
    r"|你好|您好|嗨|哈喽|大家好|早上好|下午好|晚上好|请|麻烦|可以|以后|今后|就(?:好|行|成)|吧|幸会|很高兴|自我介绍|顺便|对了",
    re.IGNORECASE,
)
_ASKS_NAME: Final = re.compile(
    r"\byour (?:full |first |last )?names?\b|\b(?:call|address) you\b|\bwho (?:are you|am i (?:talking|speaking))\b"
    r"|你(?:的)?(?:叫什么|名字)|称呼|叫你|您?贵姓|你是谁",
    re.IGNORECASE,
)


def is_told_to_agent(sentence: str, answer_before: str, *, has_courtesy: bool) -> bool:
    """Tell whether a name is told to the agent: by a greeting in or beside its sentence, or as it was asked for."""
    return has_courtesy or bool(_ADDRESSES.search(sentence)) or bool(_ASKS_NAME.search(answer_before))


def pins_beyond(pinned: Iterable[Memory]) -> frozenset[MemoryId]:
    """Return the captured pins that newer ones of their kind leave no room for.

    What a person pins has no bound, but where it says in the words of the same forms who or by what number one is.
    """
    counts, beyond = Counter[tuple[str, str]](), set[MemoryId]()
    for memory in sorted(pinned, key=newness, reverse=True):
        attributes = memory.line.attributes
        if attributes.provenance is not Provenance.USER or memory.line.kind is not Kind.ENTITY:
            continue
        what = pin_kind(memory.line.text)
        if not what:
            continue
        kind = attributes.scope, what
        counts[kind] += 1
        if counts[kind] > PINS_OF_A_KIND:
            beyond.add(memory.id)
    return frozenset(beyond)


def newness(memory: Memory) -> tuple[date, int, MemoryId]:
    """Return by what memories are put in the order in which they were said: of a day, by their lines in its log."""
    return memory.recorded, memory.sources[0].start_line, memory.id


def pin_kind(text: str) -> str:
    """Return what capture would pin of a text: a name, a phone number, an e-mail or ID number; empty: nothing."""
    starts = [*english_starts(text), *chinese_starts(text)]
    if (found := found_identifier(text, starts)) is not None:
        return found.what
    name = found_form(text, text, starts, _NAMES)
    return NAME if name is not None and not name.reason else ""
