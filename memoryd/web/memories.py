"""The pages Ask, Memories and To decide.

Ask runs search and recall with one question: first with a short deadline, then, if parts were late, without. It
explains the rank of each answer, and why others are left out, for readers who do not know the ranking; the exact
figures are in the replies of the API with `explain`. Memories lists memories, and shows the tier of each and its
relevance over a year. To decide shows proposals and disagreements, which the user decides one by one or together.
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
"""Deadline of the first answer; if a model is slow or being loaded, the page asks once more without it."""
SOON_SECONDS = 0.05
"""How long the page without a question waits for the number of memories."""
HITS = 8


async def ask(visit: Visit) -> View:
    """Show the memories and passages that answer the question `q`, and what was left out.

    With `whole` there is no short deadline.
    """
    question, is_complete = visit.text("q"), bool(visit.text("whole"))
    if not question:
        return {"question": "", "total": await _count(visit)}
    deadline = None if is_complete else SOON_MS
    recalled, searched = await asyncio.gather(
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
    # a line that is shown as a memory is not shown again as a hit
    sources = {item.get("source") for item in (*remembered, *left_out)}
    others = [hit for hit in searched["results"] if hit.get("citation") not in sources]
    hits, over_limit = others[:HITS], others[HITS:]
    has_more = is_late(recalled) or is_late(searched)
    return {
        "title": question[:80],
        "question": question,
        "memories": remembered,
        "hits": hits,
        "editable": await lines_of(visit, hits),
        "left_out": left_out,
        "over_limit": over_limit,
        "misses": searched.get("misses", ()),
        "is_weak": "answerable" not in (recalled["verdict"], searched["verdict"]),
        "missing": missing_parts(searched, recalled),
        "is_by_words_alone": is_by_words_alone(searched, recalled),
        "is_late": has_more,
        "later": url_of("ask", q=question, whole="yes") if has_more and not is_complete else "",
        "lines": snippet_lines,
        "is_outside": is_outside,
        "reason": reason,
        "why_left_out": why_left_out,
        "OVER_LIMIT": OVER_LIMIT,
        "WEAK": WEAK,
        "LATE": LATE,
        "back": url_of("ask", q=question),
    }


async def _count(visit: Visit) -> int | None:
    """Return the number of memories, None if it takes too long; the work already done then serves the next request."""
    try:
        async with asyncio.timeout(SOON_SECONDS):
            return (await memories.listing(visit.admitted, visit.memories, limit=1))["total"]
    except TimeoutError:
        return None


def snippet_lines(hit: HitReply) -> list[tuple[int, str, bool]]:
    """Return the lines of a snippet: number, text, and whether the line is in the focus."""
    focus = hit["focus"]
    numbers = hit.get("snippetLines") or range(hit["snippetStartLine"], hit["snippetEndLine"] + 1)
    return [
        (number, line, focus is not None and focus["startLine"] <= number <= focus["endLine"])
        for number, line in zip(numbers, hit["snippet"].split("\n"), strict=False)
    ]


TERMS = 6
"""Words of a question that are listed at most."""
_BOOSTS = {
    Boosts.ENTITY: "it is about whom or what you named",
    Boosts.TEMPORAL: "it is of the days you asked about",
    Boosts.OPINION: "you asked for an opinion",
}
_LEFT_OUT: Mapping[str, str] = {
    SkipReason.BEYOND_K: "others answer better",
    SkipReason.BEYOND_MAX_RESULTS: "others answer better",
    SkipReason.BELOW_MIN_SCORE: "too little of it is about the question",
    SkipReason.SAME_AS_MEMORY: "a memory above says the same",
    SkipReason.SAME_AS_ANOTHER: "another one above says the same",
    SkipReason.NOT_STANDING: "its note was changed a moment ago, and is being read again",
    SkipReason.CHANGED: "its note was changed a moment ago, and is being read again",
    SkipReason.BELOW_NOISE: "it is no closer to the question than any other note",
}
_ARMS = {"lexical": "words", "vector": "meaning"}
ASKED_ONLY = "100% of what it holds of the question was asked"
OVER_LIMIT = "Others answer better."
WEAK = "None of these surely answers: they have some words of the question, or are near in meaning."
LATE = "Not all of your memory has answered yet."


def reason(result: Any) -> str:
    """Return why a memory or a hit is in the answer, as a sentence."""
    parts = list(_reasons(result))
    if ASKED_ONLY in result["explain"]["because"]:
        parts.append("but only asks the same, without an answer")
    elif result.get("verdict") == Verdict.NONE:
        parts.append(f"{'otherwise ' if parts else ''}no nearer to the question than any other note")
    text = "; ".join(parts) or str(result["explain"]["because"])
    return f"{text[:1].upper()}{text[1:]}."


def _reasons(result: Any) -> Iterator[str]:
    why = result["explain"]
    if terms := why["terms"]:
        more = f" and {len(terms) - TERMS} more of your words" if len(terms) > TERMS else ""
        yield f"has {', '.join(f'“{term}”' for term in terms[:TERMS])}{more}"
    if (rank := why["vectorRank"]) and result.get("verdict") != Verdict.NONE:
        yield "is the nearest in meaning" if rank == 1 else "is near in meaning"
    yield from (words for lift, words in _BOOSTS.items() if lift in why.get("lifts", ()))
    if (days := why.get("ageDays")) and why["decay"] < 1:
        yield f"counts for less because it is {days} days old"
    if copies := len(why.get("copies") or result.get("copies") or ()):
        yield f"stands for {copies} more that {'says' if copies == 1 else 'say'} the same"


def why_left_out(result: Any) -> str:
    """Return why a memory or a hit is not in the answer, as a sentence."""
    because = str(result["explain"]["because"])
    # a skip reason may be a template: only the text before the first placeholder is compared
    text = next((words for skip, words in _LEFT_OUT.items() if because.startswith(skip.partition(" {")[0])), because)
    return f"{text[:1].upper()}{text[1:]}."


def is_late(reply: Any) -> bool:
    """Return whether an arm of the search exceeded the deadline."""
    return any(arm["state"] == ArmState.TIMEOUT for arm in reply["health"]["arms"].values())


def is_by_words_alone(*replies: Any) -> bool:
    """Return whether the configuration turns off search by meaning."""
    return all(reply["health"]["arms"].get("vector", {}).get("state") == ArmState.OFF for reply in replies)


def missing_parts(*replies: Any) -> list[str]:
    """Return a sentence for each part of the memory that did not contribute, except late and disabled arms."""
    remarks = [
        f"{_ARMS.get(name, name).capitalize()}: {arm['reason']}."
        for reply in replies
        for name, arm in reply["health"]["arms"].items()
        if arm["reason"] and arm["state"] not in (ArmState.TIMEOUT, ArmState.OFF)
    ]
    health = replies[0]["health"]
    if files := health["pendingFiles"]:
        remarks.append(f"{files:,} {'file is' if files == 1 else 'files are'} still to be read.")
    if texts := health["pendingEmbeddings"]:
        remarks.append(
            f"Of {texts:,} {'text' if texts == 1 else 'texts'} the meaning is not known yet, only the words."
        )
    return list(dict.fromkeys(remarks))


async def agent(visit: Visit) -> Redirect:
    """Show the memory of another agent."""
    chosen = visit.caller.agent_of(visit.text("agent") or visit.agent)
    return Redirect(f"../{chosen}/ask")


AGES = {
    "": "any age",
    "7d": "last week",
    "30d": "last month",
    "-30d": "older than a month",
    "-365d": "older than a year",
}
"""Choices of the filter `age`, by its values; a minus means older than."""
TITLE_CHARS = 90
"""Characters of the beginning of a memory in the title of its page."""
TIERS = {
    Tier.CORE: "It is in the core: every session begins with it.",
    Tier.WORKING: "It is in the working tier: at hand when something is asked.",
    Tier.PERIPHERAL: "It is in the periphery: found when it is asked for, behind what is nearer at hand.",
}
REASONS = {
    TierReason.NEW: "every memory begins there",
    TierReason.LOW: "it was little used and is not important",
}
"""Texts for reasons of a tier, where that of the API is too technical for the page."""
FILTERS = ("q", "tier", "kind", "entity", "scope", "age", "author", "pinned")
WIDTH, HEIGHT, MARGIN = 640, 200, 34
"""Size of the curve in SVG units."""


async def listing(visit: Visit) -> View:
    """List memories that match the chosen filters, the newest first."""
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
    """Show one memory: its fields, why it is in its tier, and its relevance over the next year without use."""
    reply = await memories.why(visit.text("id"), visit.admitted, visit.memories)
    return {
        "title": shortened(reply["memory"]["abstract_text"], TITLE_CHARS),
        "memory": reply["memory"],
        "terms": reply["terms"],
        "curve": curve(reply["ahead"]),
        "TIERS": TIERS,
        "REASONS": REASONS,
    }


def curve(ahead: Any) -> dict[str, Any]:
    """Return the relevance over the next year as points of a picture, and when the memory leaves its tier."""
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
        # in the local time zone of the machine
        "leaves_on": None if leaves is None else (date.today() + timedelta(leaves)).isoformat(),  # noqa: DTZ011
        "goes_to": ahead["goes_to"],
        "now": ahead["relevance"][0],
        "then": ahead["relevance"][-1],
        "width": WIDTH,
        "height": HEIGHT,
        "margin": MARGIN,
    }


def _choice(kind: Any, name: str, chosen: dict[str, str]) -> Any:
    """Return the chosen member of an enumeration, None for an empty choice; raises InvalidRequest."""
    try:
        return kind(chosen[name]) if chosen[name] else None
    except ValueError as exc:
        raise InvalidRequest(f"there is no such {name}", hint="choose one from the list") from exc


SHOWN = 20
"""Pairs, and proposals, on one page."""
DOUBTS = {
    "authority": "The older one has more weight: someone else stated the newer one.",
    "people": "Another person of the team said the other.",
    "copy": "The older one is only in a conflict copy: memoryctl conflicts shows both versions.",
    "unsure": "It is not sure that both speak of one thing, or who said the older one.",
    "stated": "The newer one says itself that it contradicts the older.",
}
_SETTLED = {
    "newer": "The newer one holds; the older is kept, and marked as superseded.",
    "older": "The older one holds; the newer is marked as superseded.",
    "both": "Both hold, side by side.",
}


async def disagreements(visit: Visit) -> View:
    """Show pairs of memories that may contradict each other, and open proposals of reflect."""
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
    """Yield the lines of a unified diff: CSS class, a label for readers without colours, and text."""
    # the lines before the first hunk name the file
    _, mark, hunks = diff.partition("\n@@")
    for line in f"@@{hunks}".removesuffix("\n").split("\n") if mark else ():
        if line.startswith("\\"):
            continue
        if line.startswith("@@"):
            yield "dim", "", "…"
            continue
        kind, label = {"+": ("add", "added: "), "-": ("gone", "removed: ")}.get(line[:1], ("", ""))
        yield kind, label, line[1:]


async def settle(visit: Visit) -> Redirect:
    """Decide which memory of a pair holds, or both."""
    keep = visit.text("keep")
    request = visit.request(SettleRequest, keep=keep)
    done = await memories.settle(visit.text("pair"), request, visit.admitted, visit.memories)
    return Redirect(
        visit.back("disagreements"),
        Notice(_SETTLED.get(keep, f"What {keep} says holds, and not the other."), tuple(done["changes"])),
    )


async def decide(visit: Visit) -> Redirect:
    """Accept or reject the proposals of a form; those that cannot be written stay open, and the notice says why."""
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
    subject = "1 proposal was" if done == 1 else f"{done} proposals were"
    text = sentences(f"{subject} {verdict}ed", *dict.fromkeys(notes))
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
