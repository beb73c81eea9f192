"""Why an item stands where it stands, and why an answer is empty or worth no more: in words."""

from dataclasses import replace

from memoryd.domain.documents import Source
from memoryd.domain.memories.kinds import short_id
from memoryd.domain.memories.recall_filters import is_known_to
from memoryd.domain.memories.recall_order import Lifts
from memoryd.domain.ranking.calibration import Verdict
from memoryd.memory.recall.recall_engine import RecallDraft
from memoryd.memory.recall.recall_query import RecallQuery
from memoryd.memory.recall.recalled import Recalled, RecalledItem, RecalledMemory
from memoryd.search.protocol import ArmState, Found, Query, why_empty, why_no_better

_LIFTED = {
    Lifts.ENTITY: "the question names its entity",
    Lifts.TEMPORAL: "it is of the days that are asked about, which come first",
    Lifts.OPINION: "an opinion is asked for",
}


def because_of(item: RecalledItem, draft: RecallDraft) -> str:
    """Say why an item stands where it stands."""
    if not isinstance(item, RecalledMemory):
        reasons = _found_by(item.hit.ranks.words, item.hit.ranks.vector, item.hit.terms)
    else:
        reasons = _found_by(item.evidence.words_rank, item.evidence.vector_rank, item.evidence.terms)
    reasons += [f"{_LIFTED[arm]} (+{lift:.2f})" for arm, lift in item.placed.lifts.items()]
    if draft.asking.is_bare:
        reasons.append(_of_bare(item, "best" if draft.asking.is_of_opinion else "newest"))
    elif item.placed.is_noise:
        reasons.append("its words and meaning answer nothing: it stands behind what does")
    if isinstance(item, RecalledMemory):
        reasons += _versions(item)
    return "; ".join(reasons)


def _of_bare(item: RecalledItem, then: str) -> str:
    """Say by what an item is placed where a question names somebody or some days and asks for nothing else."""
    count = len(item.placed.lifts)
    has = f"has {count} of what the question names" if count else "has nothing of what the question names"
    day = f"is of {item.placed.day}" if item.placed.day else "has no date"
    return f"it {has} and {day}: no other words are asked for, so what has most comes first, then the {then}"


def _found_by(words: int | None, vector: int | None, terms: tuple[str, ...]) -> list[str]:
    reasons = [f"{words}. by words ({', '.join(terms)})"] if words else []
    return reasons + ([f"{vector}. by meaning"] if vector else [])


def _versions(item: RecalledMemory) -> list[str]:
    reasons = []
    if item.moved_before:
        reasons.append(f"moved up before {item.moved_before}, which says what it was before")
    if item.supersedes:
        reasons.append(f"the current version of {', '.join(map(short_id, item.supersedes))}")
    if item.superseded_by:
        reasons.append(f"superseded by {', '.join(map(short_id, item.superseded_by))}")
    if item.copies:
        reasons.append(f"{len(item.copies)} that say the same folded into it")
    return reasons


def why_nothing(found: Recalled, query: RecallQuery, draft: RecallDraft) -> str | None:
    """Say why there is nothing, or why what there is is worth no more; None if there is nothing to say."""
    if found.items:
        if found.verdict is Verdict.ANSWERABLE:
            return found.freshness.hold or None
        return _no_better(found) or found.freshness.hold or None
    if all(arm.state is not ArmState.OK for arm in found.arms.values()):
        return "no arm of recall could answer: " + "; ".join(dict.fromkeys(arm.reason for arm in found.arms.values()))
    if any(one.item for one in found.left_out) and found.freshness.pending_files:
        return "what was found is not in its files as it was read; they are read again now"
    narrowed = _narrowed(query, draft)
    if narrowed and found.freshness.files and not found.freshness.pending_files:
        return narrowed
    empty = Found((), (), found.arms, query.question.terms)
    return why_empty(empty, found.freshness, _of_notes(query.as_search(0.0)))


def _of_notes(query: Query) -> Query:
    filters = replace(query.filters, sources=(Source.MEMORY,))
    return replace(query, filters=filters, asked=replace(query.question, filters=filters))


def _no_better(found: Recalled) -> str:
    if found.verdict is Verdict.WEAK:
        return found.floors.weakness if found.floors else why_no_better((), None)
    return found.floors.emptiness if found.floors else ""


def _narrowed(query: RecallQuery, draft: RecallDraft) -> str:
    """Say which filters left nothing."""
    filters = query.filters
    if filters.entities is not None and not is_known_to(draft.book, filters.entities, filters.reach):
        return "no memory names this entity: memoryctl entities list"
    given = {
        "since": filters.since,
        "until": filters.until,
        "asOf": filters.as_of,
        "knownBy": filters.known_by,
        "entity": filters.entities,
        "kind": filters.kinds,
        "scope": filters.scope,
    }
    names = [name for name, value in given.items() if value]
    return f"nothing matches within what {', '.join(names)} leave" if names else ""
