"""The page Ask: search and recall by one question; and what is done with an answer: open its place, correct, pin."""

import asyncio
from typing import Final

from memoryd.api.calls import index, memories, recall, search
from memoryd.api.calls.memories import MemoryEditRequest, MemoryReplaceRequest
from memoryd.api.calls.recall import RecallRequest
from memoryd.api.calls.search import SearchRequest
from memoryd.domain.citations import is_conversation, parse
from memoryd.errors import InvalidRequest
from memoryd.replies.search import HitReply
from memoryd.web.pages import Page, Redirect, View, Visit, url_of
from memoryd.web.session import Notice
from memoryd.wire import LINES_MAX

DEADLINE_MS: Final = 700
"""After which a page shows what there is: it waits for no model that is being loaded."""
SOON_SECONDS: Final = 0.05
"""How long the empty page waits for a number."""
HITS: Final = 8
AROUND: Final = 12
"""Lines that are shown above and below the cited ones."""

LINES_SHOWN: Final = 120
"""Of a document that is opened as a whole."""


async def ask(visit: Visit) -> View:
    """Show what is remembered, where it is written, and what was left out, for the question `q`."""
    question = visit.text("q")
    if not question:
        return View({"question": "", "total": await _count(visit)})
    recalled, found = await asyncio.gather(
        recall.recall(
            visit.request(RecallRequest, query=question, k=HITS, explain=True, touch=False, deadlineMs=DEADLINE_MS),
            visit.admitted,
            visit.caller,
            visit.memories,
        ),
        search.search(
            visit.request(SearchRequest, query=question, maxResults=HITS, explain=True, deadlineMs=DEADLINE_MS),
            visit.admitted,
            visit.memories,
        ),
    )
    remembered = [item for item in recalled["results"] if item["is"] != "passage"]
    # a line that is shown as a memory is no hit beside it
    shown = {item.get("source") for item in remembered}
    return View(
        {
            "title": question[:80],
            "question": question,
            "recalled": recalled,
            "memories": remembered,
            "found": found,
            "hits": [hit for hit in found["results"] if hit.get("citation") not in shown],
            "lines": snippet_lines,
            "back": url_of("ask", q=question),
        }
    )


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


async def place(visit: Visit) -> View:
    """Show the lines that a citation names, and some around them."""
    try:
        cited = parse(visit.text("at"))
    except ValueError as exc:
        raise InvalidRequest(str(exc)) from exc
    start, end = cited.start_line or 1, cited.end_line or LINES_SHOWN
    first = max(1, start - AROUND)
    count = min(end - first + 1 + AROUND, LINES_MAX)
    file = await index.get_file(cited.path, visit.admitted, visit.memories, first, count)
    lines = [
        (number, line, cited.start_line is not None and start <= number <= end)
        for number, line in enumerate(file["text"].splitlines(), file["from"])
    ]
    is_note = not is_conversation(cited.path)
    return View(
        {"title": cited.path, "file": file, "lines": lines, "cited": cited, "at": visit.text("at"), "is_note": is_note}
    )


async def correct(visit: Visit) -> Redirect:
    """Say what holds now in the place of a memory."""
    request = visit.request(MemoryReplaceRequest, text=visit.text("text"))
    reply = await memories.replace(visit.text("id"), request, visit.caller, visit.memories)
    text = "Corrected: the older version is kept, and marked as superseded." if reply["changed"] else "It says so."
    notes = " ".join(reply["notes"])
    notice = Notice(f"{text} {notes}".strip(), tuple(reply["changes"]), reply["run"] or "")
    return Redirect(visit.back("memories"), notice)


async def pin(visit: Visit) -> Redirect:
    """Pin a memory."""
    reply = await memories.pin(visit.text("id"), visit.request(MemoryEditRequest), visit.caller, visit.memories)
    return Redirect(visit.back("memories"), Notice("Pinned: it never decays.", tuple(reply["changes"])))


async def unpin(visit: Visit) -> Redirect:
    """Take the pin of a memory away."""
    reply = await memories.unpin(visit.text("id"), visit.request(MemoryEditRequest), visit.caller, visit.memories)
    return Redirect(visit.back("memories"), Notice("The pin is gone.", tuple(reply["changes"])))


async def agent(visit: Visit) -> Redirect:
    """Look at the memory of another agent."""
    visit.session.agent = visit.caller.agent_of(visit.text("agent") or None)
    return Redirect("ask")


PAGES: Final = (
    Page(path="ask", title="Ask", handler=ask),
    Page(path="open", title="In place", handler=place, under="ask"),
    Page(path="correct", method="POST", handler=correct),
    Page(path="pin", method="POST", handler=pin),
    Page(path="unpin", method="POST", handler=unpin),
    Page(path="agent", method="POST", handler=agent),
)
