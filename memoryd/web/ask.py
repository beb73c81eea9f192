"""The page Ask: search and recall by one question, answered at once by what is found soon, and then by all there is.

Why an answer stands where it stands, or does not, is told in words for people who never read how answers are ranked;
exact figures and texts are in the replies of the API, by `explain`.
"""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from memoryd.api.calls import memories, recall, search
from memoryd.api.calls.recall import RecallRequest
from memoryd.api.calls.search import SearchRequest
from memoryd.domain.documents import is_outside
from memoryd.domain.memories.recall_order import Boosts
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.skips import SkipReason
from memoryd.replies.search import HitReply
from memoryd.search.protocol import ArmState
from memoryd.web.changes import lines_of
from memoryd.web.pages import Page, Redirect, View, Visit, url_of

SOON_MS = 80
"""After which the first answer shows what there is: a model that is slow, or being loaded, is asked once more."""
SOON_SECONDS = 0.05
"""How long the empty page waits for a number."""
HITS = 8


async def ask(visit: Visit) -> View:
    """Show what is remembered, where it is written, and what was left out, for the question `q`.

    With `whole` the answer takes the time that it needs.
    """
    question, is_whole = visit.text("q"), bool(visit.text("whole"))
    if not question:
        return {"question": "", "total": await _count(visit)}
    deadline = None if is_whole else SOON_MS
    recalled, found = await asyncio.gather(
        recall.recall(
            visit.request(RecallRequest, query=question, k=HITS, explain=True, touch=False, deadlineMs=deadline),
            visit.admitted,
            visit.caller,
            visit.memories,
        ),
        search.search(
            visit.request(SearchRequest, query=question, maxResults=2 * HITS, explain=True, deadlineMs=deadline),
            visit.admitted,
            visit.memories,
        ),
    )
    remembered = [item for item in recalled["results"] if item["is"] != "passage"]
    left_out = [item for item in recalled.get("leftOut", ()) if item["is"] != "passage"]
    # a line that is told as a memory is no hit beside it
    told = {item.get("source") for item in (*remembered, *left_out)}
    others = [hit for hit in found["results"] if hit.get("citation") not in told]
    hits, beyond = others[:HITS], others[HITS:]
    has_more = is_late(recalled) or is_late(found)
    return {
        "title": question[:80],
        "question": question,
        "memories": remembered,
        "hits": hits,
        "mended": await lines_of(visit, hits),
        "left_out": left_out,
        "beyond": beyond,
        "misses": found.get("misses", ()),
        "is_weak": "answerable" not in (recalled["verdict"], found["verdict"]),
        "missing": missing(found, recalled),
        "is_by_words_alone": is_by_words_alone(found, recalled),
        "is_late": has_more,
        "later": url_of("ask", q=question, whole="yes") if has_more and not is_whole else "",
        "lines": snippet_lines,
        "is_outside": is_outside,
        "reason": reason,
        "why_left_out": why_left_out,
        "BEYOND": BEYOND,
        "WEAK": WEAK,
        "LATE": LATE,
        "back": url_of("ask", q=question),
    }


async def _count(visit: Visit) -> int | None:
    """Return how many memories there are, if that is known soon; what was begun for it is done for the next page."""
    try:
        async with asyncio.timeout(SOON_SECONDS):
            return (await memories.listing(visit.admitted, visit.memories, limit=1))["total"]
    except TimeoutError:
        return None


def snippet_lines(hit: HitReply) -> list[tuple[int, str, bool]]:
    """Return the lines of a snippet, each with its number and whether it is of the focus."""
    focus = hit["focus"]
    numbers = hit.get("snippetLines") or range(hit["snippetStartLine"], hit["snippetEndLine"] + 1)
    lines = hit["snippet"].split("\n")
    return [
        (number, line, focus is not None and focus["startLine"] <= number <= focus["endLine"])
        for number, line in zip(numbers, lines, strict=False)
    ]


TERMS = 6
"""Words of a question that are named at most."""
_LIFTS = {
    Boosts.ENTITY: "it is about whom or what you named",
    Boosts.TEMPORAL: "it is of the days you asked about",
    Boosts.OPINION: "you asked for an opinion",
}
_LEFT_OUT: Mapping[str, str] = {
    SkipReason.BEYOND_K: "others answer better",
    SkipReason.BEYOND_MAX_RESULTS: "others answer better",
    SkipReason.BELOW_MIN_SCORE: "too little of it has to do with the question",
    SkipReason.SAME_AS_MEMORY: "a memory above says the same",
    SkipReason.SAME_AS_ANOTHER: "another one above says the same",
    SkipReason.NOT_STANDING: "its note was changed a moment ago, and is being read again",
    SkipReason.CHANGED: "its note was changed a moment ago, and is being read again",
    SkipReason.BELOW_NOISE: "it has no more to do with the question than any other note",
}
_ARMS = {"lexical": "words", "vector": "meaning"}
ASKED_ONLY = "100% of what it holds of the question was asked"
BEYOND = "Others answer better."
WEAK = "None of these surely answers: they have some words of the question, or are near in meaning."
LATE = "Not all of your memory has answered yet."


def reason(one: Any) -> str:
    """Return why a memory or a hit is told, in its place."""
    parts = list(_reasons(one))
    if ASKED_ONLY in one["explain"]["because"]:
        parts.append("but only asks that, and nobody answered there")
    elif one.get("verdict") == Verdict.NONE:
        parts.append(f"{'otherwise ' if parts else ''}no nearer to the question than any other note")
    text = "; ".join(parts) or str(one["explain"]["because"])
    return f"{text[:1].upper()}{text[1:]}."


def _reasons(one: Any) -> Iterator[str]:
    why = one["explain"]
    if terms := why["terms"]:
        more = f" and {len(terms) - TERMS} more of your words" if len(terms) > TERMS else ""
        yield f"has {', '.join(f'“{term}”' for term in terms[:TERMS])}{more}"
    if (rank := why["vectorRank"]) and one.get("verdict") != Verdict.NONE:
        yield "is the nearest in meaning" if rank == 1 else "is near in meaning"
    yield from (words for lift, words in _LIFTS.items() if lift in why.get("lifts", ()))
    if (days := why.get("ageDays")) and why["decay"] < 1:
        yield f"counts for less because it is {days} days old"
    if copies := len(why.get("copies") or one.get("copies") or ()):
        yield f"stands for {copies} more that {'says' if copies == 1 else 'say'} the same"


def why_left_out(one: Any) -> str:
    """Return why a memory or a hit that came near is not told."""
    because = str(one["explain"]["because"])
    # a text of a reason may have figures filled in behind its beginning
    known = next((words for text, words in _LEFT_OUT.items() if because.startswith(text.partition(" {")[0])), because)
    return f"{known[:1].upper()}{known[1:]}."


def is_late(reply: Any) -> bool:
    """Tell whether a part of the memory was still at work when an answer had to be given."""
    return any(arm["state"] == ArmState.TIMEOUT for arm in reply["health"]["arms"].values())


def is_by_words_alone(*replies: Any) -> bool:
    """Tell whether their owner had answers found by their words alone."""
    return all(reply["health"]["arms"].get("vector", {}).get("state") == ArmState.OFF for reply in replies)


def missing(*replies: Any) -> list[str]:
    """Return which parts of the memory took no part in answers, one sentence each, but for what is late or off."""
    found = [
        f"{_ARMS.get(name, name).capitalize()}: {arm['reason']}."
        for reply in replies
        for name, arm in reply["health"]["arms"].items()
        if arm["reason"] and arm["state"] not in (ArmState.TIMEOUT, ArmState.OFF)
    ]
    health = replies[0]["health"]
    if files := health["pendingFiles"]:
        found.append(f"{files:,} {'file is' if files == 1 else 'files are'} still to be read.")
    if texts := health["pendingEmbeddings"]:
        found.append(f"Of {texts:,} {'text' if texts == 1 else 'texts'} the meaning is not known yet, only the words.")
    return list(dict.fromkeys(found))


async def agent(visit: Visit) -> Redirect:
    """Look at the memory of another agent."""
    chosen = visit.caller.agent_of(visit.text("agent") or visit.agent)
    return Redirect(f"../{chosen}/ask")


PAGES = (
    Page(path="ask", title="Ask", handler=ask),
    Page(path="agent", method="POST", handler=agent),
)
