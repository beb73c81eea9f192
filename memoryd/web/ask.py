"""The page Ask: search and recall by one question, answered at once by what is found soon, and then by all there is."""

import asyncio

from memoryd.api.calls import memories, recall, search
from memoryd.api.calls.recall import RecallRequest
from memoryd.api.calls.search import SearchRequest
from memoryd.domain.documents import is_outside
from memoryd.replies.search import HitReply
from memoryd.web import reasons
from memoryd.web.mending import lines_of
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
        return View({"question": "", "total": await _count(visit)})
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
    is_late = reasons.is_late(recalled) or reasons.is_late(found)
    return View(
        {
            "title": question[:80],
            "question": question,
            "memories": remembered,
            "hits": hits,
            "mended": await lines_of(visit, hits),
            "left_out": left_out,
            "beyond": beyond,
            "misses": found.get("misses", ()),
            "is_weak": "answerable" not in (recalled["verdict"], found["verdict"]),
            "missing": reasons.missing(found, recalled),
            "is_by_words_alone": reasons.is_by_words_alone(found, recalled),
            "is_late": is_late,
            "later": url_of("ask", q=question, whole="yes") if is_late and not is_whole else "",
            "lines": snippet_lines,
            "is_outside": is_outside,
            "reasons": reasons,
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


async def agent(visit: Visit) -> Redirect:
    """Look at the memory of another agent."""
    chosen = visit.caller.agent_of(visit.text("agent") or visit.agent)
    return Redirect(f"../{chosen}/ask")


PAGES = (
    Page(path="ask", title="Ask", handler=ask),
    Page(path="agent", method="POST", handler=agent),
)
