"""What is done with an answer: open its place, correct it, have it remembered, pin it.

A memory is replaced by what holds now. A passage of a note has no id: its lines are corrected where they stand, if they
say still what was shown. What was said in a conversation stays as it was said, and what lies outside of the workspace,
with others of a team too, is theirs who keep it.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from memoryd.api.calls import changes, index, memories
from memoryd.api.calls.changes import LinesReplaceRequest
from memoryd.api.calls.memories import MemoryAddRequest, MemoryEditRequest, MemoryReplaceRequest
from memoryd.domain.access import Who
from memoryd.domain.documents import Citation, is_conversation, is_outside, parse
from memoryd.domain.expressions import expression
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.replies.memories import MemoryDocumentReply
from memoryd.replies.search import HitReply
from memoryd.web.pages import Page, Redirect, View, Visit, sentences
from memoryd.web.session import Notice
from memoryd.wire import LINES_MAX

AROUND = 12
"""Lines that are shown above and below the cited ones."""
LINES_SHOWN = 120
"""Of a document that is opened as a whole."""
MENDED_CHARS = 1_000
"""Of lines that are corrected on a page; more of them are a work for an editor."""
SOON_SECONDS = 0.05
"""How long an answer waits for the lines by which it is corrected."""
_HEADING = expression(r"\s{0,3}#{1,6}(\s|$)")
_MARK = expression(r"^\s*(?:[-*+>]|#{1,6}|[0-9]{1,9}[.)])\s+")


class NoteLines(Struct, frozen=True):
    """Whole lines of a note as they stand, by which they can be corrected."""

    path: str
    first: int
    text: str

    @property
    def count(self) -> int:
        return self.text.count("\n") + 1

    @property
    def at(self) -> str:
        """Where they are."""
        return str(Citation(self.path, self.first, self.first + self.count - 1))

    @property
    def plain(self) -> str:
        """The same as one statement, without what marks a heading or a list."""
        return " ".join(_MARK.sub("", line).strip() for line in self.text.split("\n") if line.strip())


async def lines_of(visit: Visit, hits: Sequence[HitReply]) -> dict[str, NoteLines]:
    """Return the lines that answer of each hit in a note, by its citation; without those that nobody corrects here."""
    asked = [cited for hit in hits if (cited := hit.get("citation"))]
    found = await asyncio.gather(*(_lines_of(visit, hit) for hit in hits if hit.get("citation")))
    return {cited: lines for cited, lines in zip(asked, found, strict=True) if lines is not None}


async def _lines_of(visit: Visit, hit: HitReply) -> NoteLines | None:
    focus = hit["focus"]
    if focus is None or hit["source"] != "memory" or is_outside(hit["path"]):
        return None
    try:
        async with asyncio.timeout(SOON_SECONDS):
            lines = await _lines(visit, hit["path"], focus["startLine"], focus["endLine"])
    except (MemorydError, TimeoutError):
        # it can still be opened
        return None
    return None if lines is None else without_edges(lines)


async def _lines(visit: Visit, path: str, first: int, last: int) -> NoteLines | None:
    """Return lines of a note, None where they are too many or too long to be corrected on a page."""
    count = last - first + 1
    if count > LINES_MAX:
        return None
    file = await index.get_file(path, visit.admitted, visit.memories, first, count)
    text = file["text"].removesuffix("\n")
    is_whole = not file["nextColumn"] and file["lines"] == count
    return NoteLines(path, first, text) if is_whole and text.strip() and len(text) <= MENDED_CHARS else None


def without_edges(lines: NoteLines) -> NoteLines | None:
    """Return lines without the headings and blanks around them: without its heading nothing below would be retained."""
    texts = lines.text.split("\n")
    told = [at for at, text in enumerate(texts) if text.strip() and not _HEADING.match(text)]
    if not told:
        return None
    return NoteLines(lines.path, lines.first + told[0], "\n".join(texts[told[0] : told[-1] + 1]))


async def place(visit: Visit) -> View:
    """Show the lines that a citation names, and some around them; of a document also those `from` one `to` another.

    From a `top` on it is read further, as a whole.
    """
    try:
        cited = parse(visit.text("at"))
    except ValueError as exc:
        raise InvalidRequest(str(exc)) from exc
    if chosen := visit.number("from"):
        cited = Citation(cited.path, chosen, max(chosen, visit.number("to")))
    top = visit.number("top", 1)
    start, end = cited.start_line or top, cited.end_line or top + LINES_SHOWN - 1
    first = max(1, start - AROUND) if cited.start_line is not None else start
    count = min(end - first + 1 + AROUND, LINES_MAX)
    file = await index.get_file(cited.path, visit.admitted, visit.memories, first, count)
    is_beyond = cited.start_line is not None and start > file["totalLines"]
    if is_beyond:
        cited, first = Citation(cited.path), max(1, file["totalLines"] - AROUND)
        file = await index.get_file(cited.path, visit.admitted, visit.memories, first, LINES_SHOWN)
    lines = [
        (number, line, cited.start_line is not None and start <= number <= end)
        for number, line in enumerate(file["text"].removesuffix("\n").split("\n"), file["from"])
    ]
    is_note = not is_conversation(cited.path) and not is_outside(cited.path)
    mended = await _lines(visit, cited.path, start, end) if is_note and cited.start_line is not None else None
    return View(
        {
            "title": cited.path,
            "file": file,
            "lines": lines,
            "cited": cited,
            "at": str(cited),
            "is_note": is_note,
            "mended": mended,
            "is_beyond": is_beyond,
        }
    )


async def correct(visit: Visit) -> Redirect | View:
    """Say what holds now in the place of a memory; where a newer one has it by now, show that first."""
    name, request = visit.text("id"), visit.request(MemoryReplaceRequest, text=visit.text("text"))
    shown = (await memories.get(name, visit.admitted, visit.memories))["memory"]
    if (current := await _current(visit, shown)) is not shown:
        # what nobody saw is not replaced
        values = {"title": "Corrected meanwhile", "memory": current, "typed": request.text}
        return View({**values, "back": visit.back("memories")})
    reply = await memories.replace(name, request, visit.admitted, visit.memories)
    text = "Corrected: the older version is kept, and marked as superseded." if reply["changed"] else "It says so."
    notice = Notice(sentences(text, *reply["notes"]), tuple(reply["changes"]), reply["run"] or "")
    return Redirect(visit.back("memories"), notice)


async def _current(visit: Visit, memory: MemoryDocumentReply) -> MemoryDocumentReply:
    """Return the memory that holds in the place of this one, if any; else this."""
    passed = {memory["id"]}
    while newer := [one for one in memory["superseded_by"] if one not in passed]:
        passed.add(newer[-1])
        memory = (await memories.get(newer[-1], visit.admitted, visit.memories))["memory"]
    return memory


async def correct_lines(visit: Visit) -> Redirect:
    """Correct lines of a note where they stand."""
    # blanks at the beginning of a line are a part of it
    old, new = (visit.typed(name).removesuffix("\n") for name in ("old", "text"))
    request = visit.request(LinesReplaceRequest, citation=visit.text("at"), old=old, new=new)
    reply = await changes.replace_lines(request, visit.admitted, visit.memories)
    return _done(visit, f"Written into {reply['path']}." if reply["changed"] else "It says so.", reply)


async def remember(visit: Visit) -> Redirect:
    """Make a memory of what somebody found, pinned if they want that."""
    request = visit.request(MemoryAddRequest, text=" ".join(visit.text("text").split()), pinned=bool(visit.text("pin")))
    reply = await memories.add(request, visit.admitted, visit.memories)
    if request.pinned and not reply["memory"]["pinned"]:
        # it was there already
        return await _pin(visit, reply["memory"]["id"])
    said = "Remembered, and pinned: it never fades." if request.pinned else "Remembered."
    return _done(visit, said if reply["created"] else "It is remembered already.", reply)


async def pin(visit: Visit) -> Redirect:
    """Pin a memory."""
    return await _pin(visit, visit.text("id"))


async def _pin(visit: Visit, memory: str) -> Redirect:
    reply = await memories.pin(memory, visit.request(MemoryEditRequest), visit.admitted, visit.memories)
    return Redirect(visit.back("memories"), Notice("Pinned: it never fades.", tuple(reply["changes"])))


async def unpin(visit: Visit) -> Redirect:
    """Take the pin of a memory away."""
    reply = await memories.unpin(visit.text("id"), visit.request(MemoryEditRequest), visit.admitted, visit.memories)
    return Redirect(visit.back("memories"), Notice("The pin is gone.", tuple(reply["changes"])))


def _done(visit: Visit, text: str, reply: Any) -> Redirect:
    made = (reply["change"],) if reply["change"] else ()
    return Redirect(visit.back("ask"), Notice(sentences(text, *reply["notes"]), made))


PAGES = (
    Page(path="open", title="In place", handler=place, under="ask"),
    Page(path="correct", method="POST", handler=correct),
    Page(path="correct-lines", method="POST", handler=correct_lines, who=Who.OWNER),
    Page(path="remember", method="POST", handler=remember),
    Page(path="pin", method="POST", handler=pin),
    Page(path="unpin", method="POST", handler=unpin),
)
