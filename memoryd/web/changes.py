"""The page Changes, with undo; and forgetting, which first shows what it reaches."""

import asyncio
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any, Final

from memoryd.api.call import FORGETTING
from memoryd.api.calls import changes, index
from memoryd.api.calls.changes import ForgetRequest, UndoRequest
from memoryd.domain.access import Who
from memoryd.domain.documents import parse
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.errors import InvalidRequest, MemorydError, NotFound
from memoryd.replies.changes import ForgetReply
from memoryd.web.pages import ROWS, Page, Redirect, View, Visit, sentences, url_of
from memoryd.web.session import Notice
from memoryd.wire import LINES_MAX, POSITION_MAX

WRITERS = tuple(map(str, WrittenBy))
_DIGITS = len(str(POSITION_MAX))
"""Of the number of a change, at most."""
_COUNTS: Final = ("files", "purgedChanges", "purgedProposals", "purgedAnswers", "purgedSteps")
_LISTS: Final = ("memories", "lines", "turns", "changes", "unfinished", "stays")


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
    return View(
        {
            "rows": rows,
            "trouble": reply["trouble"],
            "filters": filters,
            "writers": WRITERS,
            "next": {**filters, "before": rows[-1]["id"]} if len(reply["changes"]) > ROWS else None,
        }
    )


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
    return View({**view, "back": visit.back("memories"), "is_done": False})


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
    places = [(place, await _lines(visit, place)) for place in plan.pop("by_place")]
    reached = [plan["receipt"][name] for name in ("memories", "lines", "turns")]
    return {**plan, "places": places, "shown": sha256(repr((places, reached)).encode()).hexdigest()}


async def _lines(visit: Visit, place: str) -> list[tuple[int, str]]:
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
    Page(path="changes", title="Changes", handler=listing, who=Who.OWNER),
    Page(path="undo", method="POST", handler=undo, who=Who.OWNER),
    Page(path="forget", title="Forget", under="memories", handler=forget, who=Who.OWNER, deadline=FORGETTING),
    Page(path="forget", method="POST", handler=forget_now, who=Who.OWNER, deadline=FORGETTING),
)
