"""The pages Ask, Memories and To decide: what answers a question; all memories, and one with why it is kept and what
becomes of it; and what waits for a person, which is decided one by one or all at once.

Ask is search and recall by one question, answered at once by what is found soon, and then by all there is. Why an
answer stands where it stands, or does not, is told in words for people who never read how answers are ranked; exact
figures and texts are in the replies of the API, by `explain`.
"""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from memoryd.api.calls import memories, recall, reflect, search
from memoryd.api.calls.memories import SettleRequest
from memoryd.api.calls.recall import RecallRequest
from memoryd.api.calls.reflect import ProposalDecision
from memoryd.api.calls.search import SearchRequest
from memoryd.domain.access import Who
from memoryd.domain.documents import is_outside
from memoryd.domain.memories.abstracts import shortened
from memoryd.domain.memories.documents import AHEAD_DAYS
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import Provenance
from memoryd.domain.memories.recall_order import Boosts
from memoryd.domain.memories.reflect.proposals import ProposalState
from memoryd.domain.memories.tiers import Tier, TierReason
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.skips import SkipReason
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.replies.search import HitReply
from memoryd.search.protocol import ArmState
from memoryd.web.changes import lines_of
from memoryd.web.pages import ROWS, Page, Redirect, View, Visit, sentences, url_of
from memoryd.web.session import Notice

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


AGES = {
    "": "any age",
    "7d": "last week",
    "30d": "last month",
    "-30d": "older than a month",
    "-365d": "older than a year",
}
"""Ages that are chosen by, by what the query says; with a minus those before."""
TITLE_CHARS = 90
"""Of the first words of a memory, by which its page is known again."""
TIERS = {
    Tier.CORE: "It is in the core: every session begins with it.",
    Tier.WORKING: "It is in the working tier: at hand when something is asked.",
    Tier.PERIPHERAL: "It is in the periphery: found when it is asked for, behind what is nearer at hand.",
}
REASONS = {
    TierReason.NEW: "every memory begins there",
    TierReason.LOW: "it was little used and is not important",
}
"""Why a memory is in its tier, where the API says it in words of its own."""
FILTERS = ("q", "tier", "kind", "entity", "scope", "age", "author", "pinned")
WIDTH, HEIGHT, MARGIN = 640, 200, 34
"""Of the curve, in the units of its picture."""


async def listing(visit: Visit) -> View:
    """List memories, the newest first, by the filters that are chosen."""
    chosen = {name: visit.text(name) for name in FILTERS}
    age = chosen["age"]
    if age not in AGES:
        raise InvalidRequest("there is no such age", hint="choose one from the list")
    reply = await memories.listing(
        visit.admitted,
        visit.memories,
        scope=chosen["scope"],
        kind=chosen["kind"],
        tier=_choice(Tier, "tier", chosen),
        pinned=True if chosen["pinned"] else None,
        query=chosen["q"],
        entity=chosen["entity"],
        author=_choice(Provenance, "author", chosen),
        since="" if age.startswith("-") else age,
        until=age.removeprefix("-") if age.startswith("-") else "",
        limit=ROWS,
        after=visit.text("after"),
    )
    return {
        "memories": reply["memories"],
        "total": reply["total"],
        "chosen": chosen,
        "is_filtered": any(chosen.values()),
        "is_narrowed": any(value for name, value in chosen.items() if name != "q"),
        "options": {"tier": list(Tier), "kind": list(Kind), "author": list(Provenance)},
        "ages": AGES,
        "back": url_of("memories", **chosen, after=visit.text("after")),
        "next": {**chosen, "after": reply["next"]} if reply["next"] else None,
    }


async def memory(visit: Visit) -> View:
    """Show one memory: all that it is, why it is kept so near at hand, and what becomes of it if nobody asks."""
    reply = await memories.why(visit.text("id"), visit.admitted, visit.memories)
    known = reply["memory"]
    return {
        "title": shortened(known["abstract_text"], TITLE_CHARS),
        "memory": known,
        "terms": reply["terms"],
        "curve": curve(reply["ahead"]),
        "TIERS": TIERS,
        "REASONS": REASONS,
    }


def curve(ahead: Any) -> dict[str, Any]:
    """Return the relevance of a year to come as points of a picture, and where in it the memory leaves its tier."""
    width, height = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    last = len(ahead["relevance"]) - 1
    points = [
        (MARGIN + width * at / last, MARGIN + height * (1 - value)) for at, value in enumerate(ahead["relevance"])
    ]
    leaves = ahead["leaves_in_days"]
    return {
        "line": " ".join(f"{x:.1f},{y:.1f}" for x, y in points),
        "leaves_at": None if leaves is None else round(MARGIN + width * leaves / AHEAD_DAYS, 1),
        "leaves": leaves,
        # as the calendar of the machine has it
        "leaves_on": None if leaves is None else (date.today() + timedelta(leaves)).isoformat(),  # noqa: DTZ011
        "goes_to": ahead["goes_to"],
        "now": ahead["relevance"][0],
        "then": ahead["relevance"][-1],
        "width": WIDTH,
        "height": HEIGHT,
        "margin": MARGIN,
    }


def _choice(kind: Any, name: str, chosen: dict[str, str]) -> Any:
    """Return a member of an enumeration, None for an empty choice; raises InvalidRequest."""
    try:
        return kind(chosen[name]) if chosen[name] else None
    except ValueError as exc:
        raise InvalidRequest(f"there is no such {name}", hint="choose one from the list") from exc


SHOWN = 20
"""Of pairs, and of proposals, on one page."""
DOUBTS = {
    "authority": "The older one has more weight: somebody else said the newer.",
    "people": "Somebody else of the team said the other.",
    "copy": "The older one stands in a copy of a conflict alone: memoryctl conflicts shows both versions.",
    "unsure": "It is not sure that both speak of one thing, or who said the older one.",
    "stated": "The newer one says itself that it contradicts the older.",
}
_KEPT = {
    "newer": "The newer one holds; the older is kept, and marked as superseded.",
    "older": "The older one holds; the newer is marked as superseded.",
    "both": "Both hold, side by side.",
}


async def disagreements(visit: Visit) -> View:
    """Show pairs that may contradict, and what reflect proposes."""
    pair, proposal = visit.text("pair"), visit.text("proposal")
    pairs = await memories.disagreements(visit.admitted, visit.memories, SHOWN, pair)
    proposed = await reflect.proposals(visit.admitted, visit.memories, ProposalState.OPEN, SHOWN, proposal)
    return {
        "pairs": pairs,
        "proposed": proposed,
        "doubts": DOUBTS,
        "diff_lines": diff_lines,
        "place": {"pair": pair, "proposal": proposal},
        "back": url_of("disagreements", pair=pair, proposal=proposal),
    }


def diff_lines(diff: str) -> Iterator[tuple[str, str, str]]:
    """Yield the lines of a unified diff: how each is shown, what is said of it to who sees no colours, and its text."""
    # what stands before the first place names the file
    _, at, places = diff.partition("\n@@")
    for line in f"@@{places}".removesuffix("\n").split("\n") if at else ():
        if line.startswith("\\"):
            continue
        if line.startswith("@@"):
            yield "dim", "", "…"
            continue
        kind, said = {"+": ("add", "added: "), "-": ("gone", "removed: ")}.get(line[:1], ("", ""))
        yield kind, said, line[1:]


async def settle(visit: Visit) -> Redirect:
    """Have one of a pair hold, or both."""
    keep = visit.text("keep")
    request = visit.request(SettleRequest, keep=keep)
    done = await memories.settle(visit.text("pair"), request, visit.admitted, visit.memories)
    return Redirect(
        visit.back("disagreements"),
        Notice(_KEPT.get(keep, f"What {keep} says holds, and not the other."), tuple(done["changes"])),
    )


async def decide(visit: Visit) -> Redirect:
    """Accept or reject the proposals that a form shows; what cannot be written stays, and is told."""
    request, verdict, names = visit.request(ProposalDecision), visit.text("verdict"), visit.all("proposal")
    if verdict not in ("accept", "reject"):
        raise InvalidRequest("a proposal is accepted or rejected", hint="go back, and choose one")
    if not names:
        raise InvalidRequest("no proposal is named", hint="go back, and choose one")
    call = reflect.accept if verdict == "accept" else reflect.reject
    changes, notes, done = list[int](), list[str](), 0
    for name in names:
        try:
            decided = await call(name, request, visit.admitted, visit.memories)
        except MemorydError as exc:
            if len(names) == 1:
                raise
            notes.append(str(exc))
            continue
        done += 1
        changes += [decided["change"]] if decided["change"] else []
        notes += [decided["note"]] if decided["note"] else []
    what = "1 proposal was" if done == 1 else f"{done} proposals were"
    text = sentences(f"{what} {verdict}ed", *dict.fromkeys(notes))
    return Redirect(visit.back("disagreements"), Notice(text, tuple(changes)))


PAGES = (
    Page("ask", ask, title="Ask"),
    Page("agent", agent, method="POST"),
    Page("memories", listing, title="Memories"),
    Page("memory", memory, title="Memory", under="memories"),
    Page("disagreements", disagreements, title="To decide", who=Who.OWNER),
    Page("settle", settle, method="POST", who=Who.OWNER),
    Page("decide", decide, method="POST", who=Who.OWNER, deadline=reflect.REFLECTING),
)
