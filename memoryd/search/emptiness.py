"""Why an answer is empty, or lacks something: in words for whoever asked, without names that may be private."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from memoryd.domain.documents import INDEX_ALL, OutsideCount, Source
from memoryd.search.backend import CONVERSATIONS, LEXICAL, VECTOR, Arm, ArmState, Found, Query
from memoryd.search.hit import Hit

NO_SOURCE: Final = "the request and the question name different sources, so that nothing may answer"


@dataclass(frozen=True, slots=True)
class Freshness:
    """What the index still owes the disk."""

    files: int = 0
    pending_files: int = 0
    pending_embeddings: int = 0
    is_dirty: bool = False
    hold: str = ""
    """Why pending files are not read, since nobody can say what is private."""
    outside: OutsideCount = field(default_factory=OutsideCount)


def with_pending(arms: Mapping[str, Arm], freshness: Freshness) -> dict[str, Arm]:
    """Mark the vector arm as partial while passages wait for their vectors."""
    vector = arms[VECTOR]
    if vector.took_part and freshness.pending_embeddings:
        count = freshness.pending_embeddings
        reason = f"{count} {'passage has' if count == 1 else 'passages have'} no vector yet"
        vector = replace(vector, state=ArmState.PARTIAL, reason=reason)
    return {**arms, VECTOR: vector}


def why_empty(found: Found, freshness: Freshness, query: Query) -> str:
    """Say why there is no hit, for each source that was asked."""
    reasons = []
    if query.asks(Source.MEMORY):
        reasons.append(_without_notes(found, freshness, query))
    if query.asks(Source.SESSIONS):
        reasons.append(_without_conversations(found, query))
    return "; ".join(dict.fromkeys(reasons)) or NO_SOURCE


def _without_notes(found: Found, freshness: Freshness, query: Query) -> str:
    arms = [found.arms[name] for name in (LEXICAL, VECTOR)]
    if not any(arm.took_part for arm in arms):
        reasons = dict.fromkeys(arm.reason for arm in arms)
        return "no arm of the search could answer: " + "; ".join(reasons)
    if found.owed:
        return why_untold(found)
    if freshness.pending_files and freshness.hold:
        return f"{freshness.pending_files} files are held back: {freshness.hold}"
    if freshness.pending_files:
        return f"still indexing: {freshness.pending_files} files are not read yet"
    if not freshness.files:
        nothing = "nothing is indexed: the workspace holds no MEMORY.md, memory/ or bank/ notes"
        return f"{nothing}, but {freshness.outside} elsewhere: {INDEX_ALL}" if freshness.outside.files else nothing
    misses = [miss for miss in found.misses if miss.chunk.source is Source.MEMORY]
    if unmatched := _unmatched(misses, query):
        return unmatched
    nothing, outside = "nothing in the notes matches", freshness.outside
    return f"{nothing}; {outside} of the workspace {outside.verb} not among them" if outside.files else nothing


def _without_conversations(found: Found, query: Query) -> str:
    arm = found.arms[CONVERSATIONS]
    if arm.state is ArmState.OFF:
        return arm.reason
    if not arm.took_part:
        return f"conversations could not be searched: {arm.reason}"
    unmatched = _unmatched(() if found.conversations is None else found.conversations.misses, query)
    if unmatched and arm.state is ArmState.OK:
        return unmatched
    nothing = unmatched or "nothing in the conversations matches"
    return f"{nothing} ({arm.reason})" if arm.reason else nothing


def _unmatched(misses: Sequence[Hit], query: Query) -> str:
    """Say what the question itself has to do with it; empty if nothing has."""
    if misses:
        return f"the nearest hits score below minScore {query.min_score:g}"
    question = query.of_any_source().question
    if question.is_narrowed or not question.filters.is_empty:
        return "nothing matches within the given sources, paths, dates, phrases and excluded words"
    return "" if question.terms else "the question has no words to look for"


def why_untold(found: Found) -> str:
    """Say why documents that may answer are not told; without their names, for they may be private."""
    if not found.owed:
        return ""
    count, reasons = len(found.owed), "; ".join(dict.fromkeys(found.owed.values()))
    return f"{count} {'document is' if count == 1 else 'documents are'} not told as on disk: {reasons}"
