"""Going deeper: what to do when the candidates that were looked at do not fill an answer as they should.

A look reads some candidates and chooses hits from them. Copies fold, and one document or one kind of note may have too
many places; then others are owed a chance. What is cheap comes first: to read more of what the arms gave, then to ask
once for other documents, then to ask both arms for more. Noise fills places only until something better has them: it
neither ends the search for that, nor is it looked for.
"""

from dataclasses import dataclass
from enum import StrEnum

DEEPER = 4
"""By this grows what is asked for, so that few rounds reach everything."""


class NextStep(StrEnum):
    """What follows a look at the candidates."""

    ANSWER = "answer"
    READ_MORE = "read-more"
    ASK_OTHERS = "ask-others"
    """Ask for the best words of all documents but the one that has too many places."""
    ASK_DEEPER = "ask-deeper"


@dataclass(frozen=True, slots=True)
class AnswerFill:
    """How far a look filled the answer, and what there is beyond it."""

    hits: int
    """Those that are no noise."""
    has_room: bool
    """Whether others may have places of copies or of notes that are alike."""
    has_dominant: bool
    """Whether one document has more than its share of the places."""
    unread: int
    """Candidates that might stand in the answer and were not read; noise only while there are places left for it."""
    is_full: bool
    """Whether an arm had more to give."""


def next_step(fill: AnswerFill, limit: int, *, has_asked_others: bool, is_deepest: bool, is_late: bool) -> NextStep:
    """Return what follows a look for `limit` hits.

    `is_late` ends the questions to the arms, not the reading: what they gave is at hand, and half-read it would hide
    the hits of other documents behind copies.
    """
    is_settled = fill.hits >= limit and not fill.has_dominant and not fill.has_room
    if fill.unread and not is_settled:
        return NextStep.READ_MORE
    if not fill.is_full or is_late:
        return NextStep.ANSWER
    if fill.has_dominant and not has_asked_others:
        # a document of hundreds of matching chunks fills every depth: to ask deeper would bring more of it
        return NextStep.ASK_OTHERS
    return NextStep.ASK_DEEPER if fill.has_room and not is_deepest else NextStep.ANSWER
