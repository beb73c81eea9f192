"""What recall hides: pinned facts in group chats, lines under another scope, outdated generated lines.

In a group, pins are shown only in the core block: the same words in a summary, on a page or in a note, and the numbers
and addresses of a pin in other words, are hidden. Text about a conversation by memoryd is shown only to participants.
A generated line is hidden once its source is private or missing.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct

from memoryd.domain.documents import CORE_FILES, RelativePath, original_of, person_of
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.changes.tombstones import TextMatcher
from memoryd.domain.memories.generated import citations_in, generated_in
from memoryd.domain.memories.kinds import MemoryId, ShortId, Visibility
from memoryd.domain.memories.line import is_of_session
from memoryd.domain.memories.sections import PAGES, is_of_memories, memory_sections, scoped_spans
from memoryd.domain.text.lines import encode_padded
from memoryd.domain.text.markdown import front_matter_bytes

_NUMBER = expression(r"\d[\d\s().-]{5,40}[\dXx]")
_ADDRESS = expression(r"[^\s@<>]{1,64}@[^\s@<>]{1,120}\.\w{2,24}")
_LAST_DIGITS = 7
"""The last digits identify a number, with or without a country code."""
_MARKS = ".!?。！？ "


class WithheldFromGroups(Struct, frozen=True):
    """Memories hidden in groups: pins with their texts, numbers and addresses; and summaries and ends of sessions."""

    memories: frozenset[MemoryId]
    texts: tuple[TextMatcher, ...]
    identifiers: frozenset[str]

    def hides(self, text: str, *, path: str = "", memory: MemoryId | None = None) -> bool:
        """Return whether a text must be hidden: a pin, its words, text of a core file, or of a session."""
        if memory in self.memories or original_of(path) in CORE_FILES:
            return True
        return any(matcher.occurs_in(text) for matcher in self.texts) or not self.identifiers.isdisjoint(
            _identifiers(text)
        )


def withheld_from_groups(memories: Iterable[Memory]) -> WithheldFromGroups:
    """Return what must be hidden in groups, given all memories."""
    memories = list(memories)
    pins = [memory for memory in memories if any(source.line.attributes.is_pinned for source in memory.sources)]
    of_sessions = [memory for memory in memories if is_of_session(memory.line)]
    texts = [source.line.text for memory in pins for source in memory.sources]
    return WithheldFromGroups(
        frozenset(memory.id for memory in (*pins, *of_sessions)),
        tuple(TextMatcher(text) for text in dict.fromkeys(text.strip().rstrip(_MARKS) for text in texts)),
        frozenset(identifier for text in texts for identifier in _identifiers(text)),
    )


def _identifiers(text: str) -> set[str]:
    numbers = ("".join(filter(str.isalnum, number)) for number in _NUMBER.findall(text))
    return {number[-_LAST_DIGITS:].lower() for number in numbers if len(number) >= _LAST_DIGITS} | {
        address.lower() for address in _ADDRESS.findall(text)
    }


_SIGN = b"scope"


def hidden_lines(data: bytes, path: RelativePath, visibility: Visibility) -> frozenset[int]:
    """Return the numbers (from 1) of the hidden lines of a note, UTF-8 that ends in `PADDING`.

    Text with an invalid scope is hidden from everyone but the owner.
    """
    if visibility.is_owner or not is_of_memories(path) or _SIGN not in data.lower():
        return frozenset()
    spans = memory_sections(data, path).scoped
    hidden = (span for span in spans if not visibility.admits(span.scope))
    lines = data.split(b"\n")
    return frozenset(
        line for span in hidden for line in range(span.first_line, span.last_line + 1) if lines[line - 1].strip()
    )


def visible_text(text: str, path: RelativePath, visibility: Visibility) -> str:
    """Return part of a note with hidden lines blanked; line numbers do not change.

    The text above the part is not available: this is a second check, for parts that were cut before the scope was
    known.
    """
    if person_of(path) or not is_of_memories(path) or _SIGN.decode() not in text.lower():
        return text
    kind = PAGES.get(original_of(path))
    spans = [span for span in scoped_spans(encode_padded(text), default=kind) if not visibility.admits(span.scope)]
    if not spans:
        return text
    lines = text.split("\n")
    for span in spans:
        lines[span.first_line - 1 : span.last_line] = [""] * (span.last_line - span.first_line + 1)
    return "\n".join(lines)


def hidden_generated_lines(data: bytes, may_show: Callable[[ShortId], bool]) -> frozenset[int]:
    """Return the numbers (from 1) of the hidden generated lines of a page, UTF-8 that ends in `PADDING`.

    A line that cites memories is shown if all of them may be shown. A line without citations was generated from all
    memories of the block: it is shown if all of them may be, or if it is a heading.
    """
    hidden: set[int] = set()
    for start, end in generated_in(data, front_matter_bytes(data)).ranges:
        first = data.count(b"\n", 0, start) + 1
        lines = data[start:end].decode("utf-8", "replace").rstrip("\n").split("\n")
        hidden |= {first + at for at in _hidden(lines, may_show)}
    return frozenset(hidden)


def _hidden(lines: list[str], may_show: Callable[[ShortId], bool]) -> set[int]:
    named = {at: [memory for memory, _ in citations_in(line)] for at, line in enumerate(lines)}
    hidden = {at for at, memories in named.items() if not all(may_show(memory) for memory in memories)}
    if hidden:
        hidden |= {at for at, memories in named.items() if not memories and not lines[at].startswith(("#", "<!--"))}
    return hidden
