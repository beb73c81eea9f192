"""What is kept of a message, and what is not, each with its reason."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from memoryd.domain.memories.attributes import Attributes, Provenance
from memoryd.domain.memories.kinds import Kind, usual_importance
from memoryd.domain.memories.retained import RetainedLine

_IDENTIFIER: Final = re.compile(r"\d{6,}|\S+@\S+\.\w+")
ITEMS_MAX: Final = 6
"""Memories that one message gives at most."""
TOO_MANY: Final = f"a message gives at most {ITEMS_MAX} memories"
IDENTIFIER_IMPORTANCE: Final = 0.6
OWN_IDENTIFIER_IMPORTANCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class CapturedItem:
    """A memory that a message states: its text verbatim, secrets masked, and the form that it has.

    `importance`: None is the usual one of its kind. `note` is for a person: what it nearly repeats.
    """

    kind: Kind
    text: str
    form: str
    is_pinned: bool = False
    importance: float | None = None
    provenance: Provenance = Provenance.USER
    note: str = ""

    @property
    def weight(self) -> float:
        """Its importance, 0 to 1."""
        return usual_importance(self.kind) if self.importance is None else self.importance

    def line(self, scope: str = "") -> RetainedLine:
        """Return the line that states it; raises ValueError where no line can."""
        attributes = Attributes(
            importance=self.importance, scope=scope, provenance=self.provenance, is_pinned=self.is_pinned
        )
        return RetainedLine(self.kind, self.text, (), attributes)


@dataclass(frozen=True, slots=True)
class DroppedItem:
    """A sentence that looked like a memory and is none, and why; `form` is the one that it has, if any."""

    text: str
    reason: str
    form: str = ""


@dataclass(frozen=True, slots=True)
class CaptureVerdict:
    """What is kept of a message and what is not. `gate` is the marker that fired; empty: nothing was looked at.

    `decided_by` is `rules`, or the identity of the text model that chose.
    """

    kept: tuple[CapturedItem, ...] = ()
    dropped: tuple[DroppedItem, ...] = ()
    gate: str = ""
    decided_by: str = field(default="rules")

    def bounded(self) -> "CaptureVerdict":
        """Return it with at most `ITEMS_MAX` memories, each once; identifiers come before all else."""
        once: dict[str, CapturedItem] = {}
        for item in self.kept:
            once.setdefault(item.text, item)
        ordered = sorted(once.values(), key=lambda item: item.kind is not Kind.ENTITY)
        more = tuple(DroppedItem(item.text, TOO_MANY, item.form) for item in ordered[ITEMS_MAX:])
        return replace(self, kept=tuple(ordered[:ITEMS_MAX]), dropped=(*self.dropped, *more))

    def from_agent(self) -> "CaptureVerdict":
        """Return it as an agent may state it, which chose the words itself: unpinned, and no more than usual."""
        kept = [replace(one, is_pinned=False, importance=None, provenance=_of_agent(one)) for one in self.kept]
        return replace(self, kept=tuple(kept))

    def without(self, items: Sequence[DroppedItem]) -> "CaptureVerdict":
        """Return it with some of what was kept dropped, by their texts."""
        texts = {item.text for item in items}
        kept = tuple(item for item in self.kept if item.text not in texts)
        return replace(self, kept=kept, dropped=(*self.dropped, *items))


def _of_agent(item: CapturedItem) -> Provenance:
    return Provenance.AGENT if item.provenance is Provenance.USER else item.provenance


def with_model(
    rules: CaptureVerdict, found: Sequence[CapturedItem | DroppedItem], gate: str, model: str
) -> CaptureVerdict:
    """Return what the rules keep whoever decides, and beside it what a model found; numbers are told once."""
    known = " ".join(item.text for item in rules.kept)
    kept = [one for one in found if isinstance(one, CapturedItem) and not _is_told(one.text, known)]
    dropped = [one for one in found if isinstance(one, DroppedItem)]
    said = [one for one in rules.dropped if one.form]
    return CaptureVerdict((*rules.kept, *kept), (*said, *dropped), gate, model)


def _is_told(text: str, known: str) -> bool:
    """Tell whether an identifier of a text stands in what is known already."""
    return any(one in known for one in _IDENTIFIER.findall(text))
