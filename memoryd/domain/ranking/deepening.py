"""Going deeper: what to do when the candidates that were looked at do not fill an answer as they should.

A look reads some candidates and chooses hits from them. Copies fold, and one document or one kind of note may have too
many places; then others are owed a chance. What is cheap comes first: to read more of what the arms gave, then to ask
once for other documents, then to ask both arms for more.
"""

from dataclasses import dataclass
from enum import StrEnum

DEEPER = 4
"""By this grows what is asked for, so that few rounds reach everything."""


class Step(StrEnum):
    """What follows a look at the candidates."""

    ANSWER = "answer"
    READ_MORE = "read-more"
    ASK_OTHERS = "ask-others"
    """Ask for the best words of all documents but the one that has too many places."""
    ASK_DEEPER = "ask-deeper"


@dataclass(frozen=True, slots=True)
class Look:
    """What a look gave, and what there is beyond it."""

    hits: int
    has_room: bool
    """Whether others may have places of copies or of notes that are alike."""
    has_dominant: bool
    """Whether one document has more than its share of the places."""
    unread: int
    """Candidates that might stand in the answer and were not read."""
    is_full: bool
    """Whether an arm had more to give."""


def next_step(look: Look, limit: int, *, has_asked_others: bool, is_deepest: bool, is_late: bool) -> Step:
    """Return what follows a look for `limit` hits.

    `is_late` ends the questions to the arms, not the reading: what they gave is at hand, and half-read it would hide
    the hits of other documents behind copies.
    """
    is_settled = look.hits >= limit and not look.has_dominant and not look.has_room
    if look.unread and not is_settled:
        return Step.READ_MORE
    if not look.is_full or is_late:
        return Step.ANSWER
    if look.has_dominant and not has_asked_others:
        # a document of hundreds of matching chunks fills every depth: to ask deeper would bring more of it
        return Step.ASK_OTHERS
    return Step.ASK_DEEPER if look.has_room and not is_deepest else Step.ANSWER
