"""Which lines of a page that reflect wrote must not be told any more: they rest on what became private, or is gone."""

from collections.abc import Callable

from memoryd.domain.memories.generated import generated_in
from memoryd.domain.memories.identity import ShortId
from memoryd.domain.memories.page_text import citations_in
from memoryd.domain.text.headings import front_matter_bytes


def generated_beyond(data: bytes, may_tell: Callable[[ShortId], bool]) -> frozenset[int]:
    """Return the numbers (from 1) of those lines of a page, UTF-8 that ends in `PADDING`.

    A line that names memories is told if all of them may be. What names none was made of all that stand beside it: it
    is told while all of these are, but for headings.
    """
    hidden: set[int] = set()
    for start, end in generated_in(data, front_matter_bytes(data)).ranges:
        first = data.count(b"\n", 0, start) + 1
        lines = data[start:end].decode("utf-8", "replace").rstrip("\n").split("\n")
        hidden |= {first + at for at in _beyond(lines, may_tell)}
    return frozenset(hidden)


def _beyond(lines: list[str], may_tell: Callable[[ShortId], bool]) -> set[int]:
    named = {at: [one.memory for one in citations_in(line)] for at, line in enumerate(lines)}
    beyond = {at for at, memories in named.items() if not all(may_tell(one) for one in memories)}
    if beyond:
        beyond |= {at for at, memories in named.items() if not memories and not lines[at].startswith(("#", "<!--"))}
    return beyond
