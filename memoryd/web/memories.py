"""The pages Memories and To decide: all memories, and one with why it is kept and what becomes of it; and what waits
for a person, which is decided one by one or all at once.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from memoryd.api.calls import memories, reflect
from memoryd.api.calls.memories import SettleRequest
from memoryd.api.calls.reflect import ProposalDecision
from memoryd.domain.access import Who
from memoryd.domain.memories.abstracts import shortened
from memoryd.domain.memories.documents import AHEAD_DAYS
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import Provenance
from memoryd.domain.memories.reflect.proposals import ProposalState
from memoryd.domain.memories.tiers import Tier, TierReason
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.web.pages import ROWS, Page, Redirect, View, Visit, sentences, url_of
from memoryd.web.session import Notice

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
    Page(path="memories", title="Memories", handler=listing),
    Page(path="memory", title="Memory", handler=memory, under="memories"),
    Page(path="disagreements", title="To decide", handler=disagreements, who=Who.OWNER),
    Page(path="settle", method="POST", handler=settle, who=Who.OWNER),
    Page(path="decide", method="POST", handler=decide, who=Who.OWNER, deadline=reflect.REFLECTING),
)
