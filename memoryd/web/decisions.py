"""The page Disagreements and proposals: what waits for a person, and deciding it one by one or all at once."""

from collections.abc import Iterator

from memoryd.api.calls import memories, reflect
from memoryd.api.calls.memories import SettleRequest
from memoryd.api.calls.reflect import ProposalDecision
from memoryd.domain.access import Who
from memoryd.domain.memories.reflect.proposals import ProposalState
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.web.pages import Page, Redirect, View, Visit, sentences, url_of
from memoryd.web.session import Notice

SHOWN = 20
"""Of pairs, and of proposals, on one page."""
DOUBTS = {
    "authority": "The older one has more weight: somebody else said the newer.",
    "people": "Somebody else of the team said the other.",
    "copy": "The older one stands in a copy of a conflict alone: memoryctl conflicts shows both versions.",
    "unsure": "It is not sure that both speak of one thing.",
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
    return View(
        {
            "pairs": pairs,
            "proposed": proposed,
            "doubts": DOUBTS,
            "diff_lines": diff_lines,
            "place": {"pair": pair, "proposal": proposal},
            "back": url_of("disagreements", pair=pair, proposal=proposal),
        }
    )


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
    done = await memories.settle(visit.text("pair"), request, visit.caller, visit.memories)
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
    Page(path="disagreements", title="To decide", handler=disagreements, who=Who.OWNER),
    Page(path="settle", method="POST", handler=settle, who=Who.OWNER),
    Page(path="decide", method="POST", handler=decide, who=Who.OWNER, deadline=reflect.REFLECTING),
)
