"""Attributes that stand where none are read: behind the text of a memory, instead of behind its kind.

    - W @NAS: Device A is fnOS supersedes=1a2b3c4d
    - W @NAS: Device A is fnOS (at=2025-11-27)

What names memories by their ids was never meant for text, and is read where somebody can be told. What else reads as
an attribute may be either, and is refused; what is none, as in `(c=299792458)` or `(from=Paris)`, is text.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import caseless
from memoryd.domain.memories.line import NAMING, Attributes, RetainedLine, parse_attributes
from memoryd.domain.memories.malformed_lines import SHOWN, MalformedLine
from memoryd.domain.memories.sections import MemorySections

_LOOKED: Final = 400
"""Signs at the end of a text in which attributes are looked for."""
_NAMING_KEY: Final = rf"(?:{'|'.join(NAMING)})\s*+[=＝]"
_KEY: Final = rf"(?:{'|'.join(NAMING)}|scope|at|from|tags|c|i)\s*+[=＝]"
_BRACKETS: Final = caseless(rf"[(（](?P<written>(?:pin\s*+[,，]\s*+)?{_KEY}[^()（）]{{1,300}})[)）][.。]?\s*\Z")
_VALUES: Final = r"\s*+[^\s,，.。=＝()（）]{1,64}(?:[\s,，;+]+[0-9a-f]{8}(?![^\s,，.。]))*"
_BARE: Final = caseless(
    rf"(?<![^\s,，;；.。!！?？])(?P<written>{_NAMING_KEY}{_VALUES}(?:[\s,，;；]+{_NAMING_KEY}{_VALUES})*)[.。]?\s*\Z"
)
_TYPED: Final = caseless(
    r"(?<![^\s,，;；.。!！?？])(?P<written>scope\s*+[=＝]\s*+(?:global|agent:[a-z0-9][\w:-]{0,163})"
    r"|[ci]\s*+[=＝]\s*+0?\.\d{1,20}|from\s*+[=＝]\s*+(?:user|agent|tool|import)"
    r"|at\s*+[=＝]\s*+\d{4}-\d{2}(?:-\d{2})?(?:\.\.\d{4}-\d{2}(?:-\d{2})?)?)\s*\Z"
)
_NAMES: Final = caseless(_NAMING_KEY)
_BETWEEN: Final = caseless(rf"(?<![\s,，])\s+(?={_KEY})")
RULE: Final = "attributes stand behind the kind, as in W({})"


class Stray(Struct, frozen=True):
    """Attributes as written behind a text, which ends at `start` without them; `fault` says what is wrong with them."""

    start: int
    written: str
    attributes: Attributes = Attributes()
    fault: str = ""

    @property
    def rule(self) -> str:
        """Where they would be read."""
        return RULE.format(_comma_separated(self.written))

    @property
    def names_memories(self) -> bool:
        """Whether they name memories by their ids and say nothing else."""
        named = {key: getattr(self.attributes, key) for key in NAMING}
        return any(named.values()) and self.attributes == Attributes(**named)


def stray_of(text: str) -> Stray | None:
    """Return the attributes behind a text, None if there are none."""
    looked = max(0, len(text) - _LOOKED)
    found = next(filter(None, (one.search(text, looked) for one in (_BRACKETS, _BARE, _TYPED))), None)
    if found is None:
        return None
    written = found["written"].strip()
    try:
        return Stray(found.start(), written, parse_attributes(_comma_separated(written)))
    except ValueError as exc:
        return Stray(found.start(), written, fault=str(exc)) if _NAMES.search(written) else None


def with_stray_read(line: RetainedLine) -> tuple[RetainedLine, str]:
    """Return a line with the ids behind its text read as attributes, and what is to be said of that, empty if nothing.

    Raises ValueError for other attributes there, for ids that are none, and where no text is left.
    """
    stray = stray_of(line.text)
    if stray is None:
        return line, ""
    if not stray.names_memories:
        raise ValueError(
            f"{stray.written!r} stands behind the text, where nothing is read: {stray.fault or stray.rule}"
        )
    text = line.text[: stray.start].rstrip(" \t\n,，;；")
    read = replace(line, text=text, attributes=line.attributes.with_more(stray.attributes))
    return read, f"{stray.written} was read, though it stands behind the text: {stray.rule}"


def strays_in(sections: MemorySections) -> list[MalformedLine]:
    """Return the memories of a note with attributes behind their text, and what is wrong with them."""
    found = ((one, stray_of(one.line.text)) for one in sections.lines)
    return [
        MalformedLine(
            " ".join(one.line.text.split())[:SHOWN],
            f"{stray.written!r} is read as text: {stray.rule}",
            line=one.start_line,
        )
        for one, stray in found
        if stray is not None
    ]


def _comma_separated(written: str) -> str:
    return _BETWEEN.sub(", ", written)
