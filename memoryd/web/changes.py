"""Pages that open, correct, remember, pin and forget search results, and take changes back.

Correcting a memory replaces it by a newer one. A passage of a note has no id: its lines are edited in place, if they
are still as they were shown. Conversations, and notes outside the workspace or of other people of a team, cannot be
corrected here. Forgetting first shows everything that it will remove.
"""

import asyncio
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any, Final

from msgspec import Struct

from memoryd.api.call import FORGETTING
from memoryd.api.calls import changes, index, memories
from memoryd.api.calls.changes import ForgetRequest, LinesReplaceRequest, UndoRequest
from memoryd.api.calls.memories import MemoryAddRequest, MemoryEditRequest, MemoryReplaceRequest
from memoryd.domain.access import Who
from memoryd.domain.documents import Citation, is_conversation, is_outside, parse
from memoryd.domain.expressions import expression
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.errors import InvalidRequest, MemorydError, NotFound
from memoryd.replies.changes import ForgetReply
from memoryd.replies.memories import MemoryDocumentReply
from memoryd.replies.search import HitReply
from memoryd.web.pages import ROWS, Page, Redirect, View, Visit, notice_of, sentences, url_of
from memoryd.web.session import Notice
from memoryd.wire import LINES_MAX, POSITION_MAX

AROUND = 12
"""Lines shown before and after the cited ones."""
LINES_SHOWN = 120
"""Lines of a page of a document that is opened without a citation."""
CORRECTED_CHARS_MAX = 1_000
"""Characters of lines that can be corrected on a page; longer text needs an editor."""
SOON_SECONDS = 0.05
"""How long an answer waits for the lines of a hit, which are needed to correct it."""
_HEADING = expression(r"\s{0,3}#{1,6}(\s|$)")
_MARK = expression(r"^\s*(?:[-*+>]|#{1,6}|[0-9]{1,9}[.)])\s+")
WRITERS = tuple(map(str, WrittenBy))
_DIGITS = len(str(POSITION_MAX))
"""Digits of the number of a change at most."""
_COUNTS: Final = ("files", "purgedChanges", "purgedProposals", "purgedAnswers", "purgedSteps")
_LISTS: Final = ("memories", "lines", "turns", "changes", "unfinished", "stays")


class NoteLines(Struct, frozen=True):
    """Complete lines of a note, as needed to correct them."""

    path: str
    first: int
    text: str

    @property
    def count(self) -> int:
        return self.text.count("\n") + 1

    @property
    def at(self) -> str:
        """The citation of the lines."""
        return str(Citation(self.path, self.first, self.first + self.count - 1))

    @property
    def plain(self) -> str:
        """The text as one statement, without the marks of headings and lists."""
        return " ".join(_MARK.sub("", line).strip() for line in self.text.split("\n") if line.strip())


async def lines_of(visit: Visit, hits: Sequence[HitReply]) -> dict[str, NoteLines]:
    """Return the answering lines of each hit, by its citation, without hits that cannot be corrected on a page."""
    citations = [citation for hit in hits if (citation := hit.get("citation"))]
    all_lines = await asyncio.gather(*(_lines_of(visit, hit) for hit in hits if hit.get("citation")))
    return {citation: lines for citation, lines in zip(citations, all_lines, strict=True) if lines is not None}


async def _lines_of(visit: Visit, hit: HitReply) -> NoteLines | None:
    focus = hit["focus"]
    if focus is None or hit["source"] != "memory" or is_outside(hit["path"]):
        return None
    try:
        async with asyncio.timeout(SOON_SECONDS):
            lines = await _lines(visit, hit["path"], focus["startLine"], focus["endLine"])
    except (MemorydError, TimeoutError):
        # without its lines the hit can still be opened
        return None
    return None if lines is None else strip_edges(lines)


async def _lines(visit: Visit, path: str, first: int, last: int) -> NoteLines | None:
    """Return lines of a note, None if they are empty, or too many or too long to be corrected on a page."""
    count = last - first + 1
    if count > LINES_MAX:
        return None
    file = await index.get_file(path, visit.admitted, visit.memories, first, count)
    text = file["text"].removesuffix("\n")
    is_complete = not file["nextColumn"] and file["lines"] == count
    return NoteLines(path, first, text) if is_complete and text.strip() and len(text) <= CORRECTED_CHARS_MAX else None


def strip_edges(lines: NoteLines) -> NoteLines | None:
    """Return lines without headings and blank lines at both ends, None if nothing is left.

    A heading must not be edited by accident: without a Retain heading the lines below it are no memories.
    """
    texts = lines.text.split("\n")
    rows = [row for row, text in enumerate(texts) if text.strip() and not _HEADING.match(text)]
    if not rows:
        return None
    return NoteLines(lines.path, lines.first + rows[0], "\n".join(texts[rows[0] : rows[-1] + 1]))


async def place(visit: Visit) -> View:
    """Show the lines of the citation `at` with the lines around them.

    The fields `from` and `to` choose other lines of the document; `top` is the first line of a page without a citation.
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
    is_past_end = cited.start_line is not None and start > file["totalLines"]
    if is_past_end:
        cited, first = Citation(cited.path), max(1, file["totalLines"] - AROUND)
        file = await index.get_file(cited.path, visit.admitted, visit.memories, first, LINES_SHOWN)
    lines = [
        (number, line, cited.start_line is not None and start <= number <= end)
        for number, line in enumerate(file["text"].removesuffix("\n").split("\n"), file["from"])
    ]
    is_note = not is_conversation(cited.path) and not is_outside(cited.path)
    editable = await _lines(visit, cited.path, start, end) if is_note and cited.start_line is not None else None
    return {
        "title": cited.path,
        "file": file,
        "lines": lines,
        "cited": cited,
        "at": str(cited),
        "is_note": is_note,
        "editable": editable,
        "is_past_end": is_past_end,
    }


async def correct(visit: Visit) -> Redirect | View:
    """Replace a memory; if a newer version exists by now, show that instead of replacing it."""
    name, request = visit.text("id"), visit.request(MemoryReplaceRequest, text=visit.text("text"))
    shown = (await memories.get(name, visit.admitted, visit.memories))["memory"]
    if (current := await _current_version(visit, shown)) is not shown:
        # the user has not seen the newer version, so that it must not be replaced
        back = visit.back("memories")
        return {"title": "Corrected since", "memory": current, "typed": request.text, "back": back}
    reply = await memories.replace(name, request, visit.admitted, visit.memories)
    text = "Corrected: the older version is kept, and marked as superseded." if reply["changed"] else "It says so."
    notice = Notice(sentences(text, *reply["notes"]), tuple(reply["changes"]), reply["run"] or "")
    return Redirect(visit.back("memories"), notice)


async def _current_version(visit: Visit, memory: MemoryDocumentReply) -> MemoryDocumentReply:
    """Return the newest version of a memory; the same object if there is no newer one."""
    seen = {memory["id"]}
    while newer := [name for name in memory["superseded_by"] if name not in seen]:
        seen.add(newer[-1])
        memory = (await memories.get(newer[-1], visit.admitted, visit.memories))["memory"]
    return memory


async def correct_lines(visit: Visit) -> Redirect:
    """Correct lines of a note in place."""
    # not stripped: blanks at the beginning of a line are part of it
    old, new = (visit.typed(name).removesuffix("\n") for name in ("old", "text"))
    request = visit.request(LinesReplaceRequest, citation=visit.text("at"), old=old, new=new)
    reply = await changes.replace_lines(request, visit.admitted, visit.memories)
    return _confirmation(visit, f"Written into {reply['path']}." if reply["changed"] else "It says so.", reply)


async def remember(visit: Visit) -> Redirect:
    """Make a memory of a text, pinned if the form says so."""
    request = visit.request(MemoryAddRequest, text=" ".join(visit.text("text").split()), pinned=bool(visit.text("pin")))
    reply = await memories.add(request, visit.admitted, visit.memories)
    if request.pinned and not reply["memory"]["pinned"]:
        # the memory existed already, without a pin
        return await _pin(visit, reply["memory"]["id"])
    text = "Remembered, and pinned: it never fades." if request.pinned else "Remembered."
    return _confirmation(visit, text if reply["created"] else "It is remembered already.", reply)


async def pin(visit: Visit) -> Redirect:
    """Pin a memory."""
    return await _pin(visit, visit.text("id"))


async def _pin(visit: Visit, memory: str) -> Redirect:
    reply = await memories.pin(memory, visit.request(MemoryEditRequest), visit.admitted, visit.memories)
    return Redirect(visit.back("memories"), Notice("Pinned: it never fades.", tuple(reply["changes"])))


async def unpin(visit: Visit) -> Redirect:
    """Unpin a memory."""
    reply = await memories.unpin(visit.text("id"), visit.request(MemoryEditRequest), visit.admitted, visit.memories)
    return Redirect(visit.back("memories"), Notice("The pin is gone.", tuple(reply["changes"])))


def _confirmation(visit: Visit, text: str, reply: Any) -> Redirect:
    return Redirect(visit.back("ask"), notice_of(text, reply["change"], *reply["notes"]))


async def listing(visit: Visit) -> View:
    """List changes, the newest first, with their removed and added lines."""
    by, path, run = visit.text("by"), visit.text("path"), visit.text("run")
    before = visit.number("before", POSITION_MAX)
    # one more than is shown, to know whether there are more
    reply = await changes.changes(
        visit.admitted, visit.memories, by=by, path=path, run=run, limit=ROWS + 1, before=before
    )
    rows = reply["changes"][:ROWS]
    filters = {"by": by, "path": path, "run": run}
    return {
        "rows": rows,
        "trouble": reply["trouble"],
        "filters": filters,
        "writers": WRITERS,
        "next": {**filters, "before": rows[-1]["id"]} if len(reply["changes"]) > ROWS else None,
    }


async def undo(visit: Visit) -> Redirect:
    """Take back changes, the newest first, or all of one run; if one of several fails, report it and continue."""
    run = visit.text("run")
    ids = [text for text in visit.all("id") if text.isdecimal() and len(text) <= _DIGITS]
    numbers = sorted(map(int, ids), reverse=True)
    if not run and not numbers:
        raise InvalidRequest("no change is named", hint="choose one on the page Changes")
    requests = [visit.request(UndoRequest, run=run)] if run else [visit.request(UndoRequest, id=n) for n in numbers]
    undone, back, failed = list[str](), list[int](), list[str]()
    for request in requests:
        try:
            reply = await changes.undo(request, visit.admitted, visit.memories)
        except MemorydError as exc:
            if len(requests) == 1:
                raise
            failed.append(f"change {request.id} is not taken back: {exc}")
            continue
        undone.append(str(request.id))
        failed += reply["left"]
        back += [change["undoneBy"] for change in reply["undone"] if change["undoneBy"]]
    text = "Taken back." if run or not failed else f"Taken back: {', '.join(undone) or 'nothing'}."
    return Redirect(visit.back("changes"), Notice(sentences(text, *failed), tuple(back), is_error=bool(failed)))


async def forget(visit: Visit) -> View:
    """Show everything that forgetting would remove; or the receipt after it was done."""
    if (receipt := visit.stored_receipt()) is not None:
        return receipt
    targets, rest = _split_targets(visit)
    if not targets:
        raise InvalidRequest("nothing is chosen", hint="tick what is to be forgotten, and choose Forget again")
    plan = await _plan(visit, targets)
    return {**plan, "targets": targets, "rest": rest, "back": visit.back("memories"), "is_done": False}


def _split_targets(visit: Visit) -> tuple[list[str], list[str]]:
    """Return the chosen targets that are forgotten together, and the rest for the next request."""
    targets = visit.all("target")
    return targets[:ROWS], [*targets[ROWS:], *visit.all("rest")]


async def forget_now(visit: Visit) -> Redirect:
    """Forget exactly what was shown, and redirect to the receipt; raise InvalidRequest if it changed since."""
    targets, rest = _split_targets(visit)
    if visit.text("shown") != (await _plan(visit, targets))["shown"]:
        raise InvalidRequest(
            "what this would forget has changed: nothing is forgotten", hint="go back, and check it again"
        )
    replies = await _forget(visit, targets, undoable=bool(visit.text("undoable")))
    back = visit.back("memories")
    if back in {url_of("memory", id=target) for target in targets}:
        # the page of a forgotten memory no longer exists
        back = "memories"
    receipt = {"title": "Forgotten", "places": [], "rest": rest, "back": back, "is_done": True}
    return visit.store_receipt("forget", {**replies, **receipt})


async def _plan(visit: Visit, targets: Sequence[str]) -> dict[str, Any]:
    """Return what would be removed, the text of lines that are named by their place, and a hash of all of it."""
    plan = await _forget(visit, targets, dryRun=True)
    places = [(place, await _lines_at(visit, place)) for place in plan.pop("by_place")]
    reached = [plan["receipt"][name] for name in ("memories", "lines", "turns")]
    return {**plan, "places": places, "shown": sha256(repr((places, reached)).encode()).hexdigest()}


async def _lines_at(visit: Visit, place: str) -> list[tuple[int, str]]:
    """Return all lines of a place with their numbers; raise InvalidRequest if they are too long for a page."""
    cited = parse(place)
    count = cited.line_count
    file = await index.get_file(
        cited.path, visit.admitted, visit.memories, cited.start_line or 1, min(count, LINES_MAX)
    )
    if file["nextColumn"] or (file["truncated"] and file["lines"] < count):
        raise InvalidRequest(
            f"{place} is too long to be shown: nothing is forgotten unseen",
            hint="delete it in the note, or run memoryctl forget",
        )
    return list(enumerate(file["text"].removesuffix("\n").split("\n"), file["from"]))


async def _forget(visit: Visit, targets: Sequence[str], **options: bool) -> dict[str, Any]:
    """Return one receipt for all targets, with the failures of targets that were not found or not forgotten.

    Raises the error of the first target if it fails otherwise than by not being found, NotFound if none is found.
    """
    requests = [visit.request(ForgetRequest, target=target, **options) for target in targets]
    # dry runs can run at the same time, because they only read
    dry_runs = await asyncio.gather(*(_reply(visit, request) for request in requests)) if options.get("dryRun") else []
    replies: list[ForgetReply] = []
    failed: list[str] = []
    for number, request in enumerate(requests):
        answer = dry_runs[number] if dry_runs else await _reply(visit, request)
        if isinstance(answer, NotFound):
            failed.append(str(answer))
        elif isinstance(answer, MemorydError):
            if not replies:
                raise answer
            failed.append(f"{request.target}: {answer}")
        else:
            replies.append(answer)
    if not replies:
        raise NotFound("; ".join(failed), hint="it may be forgotten already")
    lists: dict[str, list[Any]] = {name: list(chain.from_iterable(reply[name] for reply in replies)) for name in _LISTS}
    if not replies[0]["forgotten"]:
        # in dry runs no line has moved, and a line with two memories must be listed once
        lists = {name: _deduplicate(entries) for name, entries in lists.items()}
    counts: dict[str, int] = {name: sum(reply[name] for reply in replies) for name in _COUNTS}
    counts["lineCount"] = sum(parse(citation).line_count for citation in lists["lines"])
    by_place = _deduplicate(place for reply in replies if not reply["memories"] for place in reply["lines"])
    return {"receipt": {**lists, **counts}, "by_place": by_place, "failed": failed}


async def _reply(visit: Visit, request: ForgetRequest) -> ForgetReply | MemorydError:
    try:
        return await changes.forget(request, visit.admitted, visit.memories)
    except MemorydError as exc:
        return exc


def _deduplicate(entries: Iterable[Any]) -> list[Any]:
    unique: list[Any] = []
    for entry in entries:
        if entry not in unique:
            unique.append(entry)
    return unique


PAGES = (
    Page("open", place, title="In place", under="ask"),
    Page("correct", correct, method="POST"),
    Page("correct-lines", correct_lines, method="POST", who=Who.OWNER),
    Page("remember", remember, method="POST"),
    Page("pin", pin, method="POST"),
    Page("unpin", unpin, method="POST"),
    Page("changes", listing, title="Changes", who=Who.OWNER),
    Page("undo", undo, method="POST", who=Who.OWNER),
    Page("forget", forget, title="Forget", under="memories", who=Who.OWNER, deadline=FORGETTING),
    Page("forget", forget_now, method="POST", who=Who.OWNER, deadline=FORGETTING),
)
