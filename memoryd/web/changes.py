"""What somebody does with what is found: open its place, correct, remember, pin or forget it, and take changes back.

A memory is replaced by what holds now. A passage of a note has no id: its lines are corrected where they stand, if they
say still what was shown. What was said in a conversation stays as it was said, and what lies outside of the workspace,
with others of a team too, is theirs who keep it. Forgetting first shows what it reaches.
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
from memoryd.web.pages import ROWS, Page, Redirect, View, Visit, sentences, url_of
from memoryd.web.session import Notice
from memoryd.wire import LINES_MAX, POSITION_MAX

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
WRITERS = tuple(map(str, WrittenBy))
_DIGITS = len(str(POSITION_MAX))
"""Of the number of a change, at most."""
_COUNTS: Final = ("files", "purgedChanges", "purgedProposals", "purgedAnswers", "purgedSteps")
_LISTS: Final = ("memories", "lines", "turns", "changes", "unfinished", "stays")


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
    return {
        "title": cited.path,
        "file": file,
        "lines": lines,
        "cited": cited,
        "at": str(cited),
        "is_note": is_note,
        "mended": mended,
        "is_beyond": is_beyond,
    }


async def correct(visit: Visit) -> Redirect | View:
    """Say what holds now in the place of a memory; where a newer one has it by now, show that first."""
    name, request = visit.text("id"), visit.request(MemoryReplaceRequest, text=visit.text("text"))
    shown = (await memories.get(name, visit.admitted, visit.memories))["memory"]
    if (current := await _current(visit, shown)) is not shown:
        # what nobody saw is not replaced
        values = {"title": "Corrected meanwhile", "memory": current, "typed": request.text}
        return {**values, "back": visit.back("memories")}
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


async def listing(visit: Visit) -> View:
    """List what was written, the newest first, with the lines that went and came."""
    by, path, run = visit.text("by"), visit.text("path"), visit.text("run")
    before = visit.number("before", POSITION_MAX)
    # one more than is shown tells whether there are more
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
    """Take back changes, the newest first, or all of one run; of several say which stay."""
    run, given = visit.text("run"), [one for one in visit.all("id") if one.isdecimal() and len(one) <= _DIGITS]
    numbers = sorted(map(int, given), reverse=True)
    if not run and not numbers:
        raise InvalidRequest("no change is named", hint="choose one on the page Changes")
    requests = [visit.request(UndoRequest, run=run)] if run else [visit.request(UndoRequest, id=one) for one in numbers]
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
        back += [one["undoneBy"] for one in reply["undone"] if one["undoneBy"]]
    said = "Taken back." if run or not failed else f"Taken back: {', '.join(undone) or 'nothing'}."
    return Redirect(visit.back("changes"), Notice(sentences(said, *failed), tuple(back), is_error=bool(failed)))


async def forget(visit: Visit) -> View:
    """Show all that forgetting reaches, while nothing is forgotten yet; or the receipt of one that was done."""
    if (kept := visit.kept_receipt()) is not None:
        return kept
    targets, rest = _chosen(visit)
    if not targets:
        raise InvalidRequest("nothing is chosen", hint="tick what is to be forgotten, and choose Forget again")
    view = {**await _plan(visit, targets), "targets": targets, "rest": rest}
    return {**view, "back": visit.back("memories"), "is_done": False}


def _chosen(visit: Visit) -> tuple[list[str], list[str]]:
    """Return what is to be forgotten at once, and what of the choice is left for the next time."""
    targets = visit.all("target")
    return targets[:ROWS], [*targets[ROWS:], *visit.all("rest")]


async def forget_now(visit: Visit) -> Redirect:
    """Forget what was shown and nothing else, and lead to the receipt."""
    targets, rest = _chosen(visit)
    if visit.text("shown") != (await _plan(visit, targets))["shown"]:
        raise InvalidRequest(
            "what this reaches was changed meanwhile: nothing is forgotten", hint="go back, and look again"
        )
    replies = await _forget(visit, targets, undoable=bool(visit.text("undoable")))
    back = visit.back("memories")
    if back in {url_of("memory", id=target) for target in targets}:
        # it is the page of what is gone
        back = "memories"
    receipt = {"title": "Forgotten", "places": [], "rest": rest, "back": back, "is_done": True}
    return visit.keep_receipt("forget", {**replies, **receipt})


async def _plan(visit: Visit, targets: Sequence[str]) -> dict[str, Any]:
    """Return what would go, with the very lines of notes that are named by their place, and a hash of all of it."""
    plan = await _forget(visit, targets, dryRun=True)
    places = [(place, await _lines_at(visit, place)) for place in plan.pop("by_place")]
    reached = [plan["receipt"][name] for name in ("memories", "lines", "turns")]
    return {**plan, "places": places, "shown": sha256(repr((places, reached)).encode()).hexdigest()}


async def _lines_at(visit: Visit, place: str) -> list[tuple[int, str]]:
    """Return all lines of a place with their numbers; raises InvalidRequest where they are too long for a page."""
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
    """Return what came of all targets in one receipt; one that went with another is left out of it."""
    requests = [visit.request(ForgetRequest, target=target, **options) for target in targets]
    # one look at the notes is enough for all that are only looked at
    ahead = await asyncio.gather(*(_reply(visit, one) for one in requests)) if options.get("dryRun") else []
    replies: list[ForgetReply] = []
    failed: list[str] = []
    for at, request in enumerate(requests):
        answer = ahead[at] if ahead else await _reply(visit, request)
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
        # of what is only looked at lines have kept their numbers, and one of two memories is one line
        lists = {name: _unique(found) for name, found in lists.items()}
    counts: dict[str, int] = {name: sum(reply[name] for reply in replies) for name in _COUNTS}
    counts["lineCount"] = sum(parse(one).line_count for one in lists["lines"])
    by_place = _unique(place for reply in replies if not reply["memories"] for place in reply["lines"])
    return {"receipt": {**lists, **counts}, "by_place": by_place, "failed": failed}


async def _reply(visit: Visit, request: ForgetRequest) -> ForgetReply | MemorydError:
    try:
        return await changes.forget(request, visit.admitted, visit.memories)
    except MemorydError as exc:
        return exc


def _unique(found: Iterable[Any]) -> list[Any]:
    unique: list[Any] = []
    for one in found:
        if one not in unique:
            unique.append(one)
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
