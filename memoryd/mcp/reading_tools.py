"""The tools that read: search, recall, open proposals, and the lines or the memory that were found."""

from collections.abc import Iterator, Sequence

from memoryd.client import Client
from memoryd.domain.citations import Citation, conversation_cited, is_conversation, parse
from memoryd.domain.text.tokens import estimate
from memoryd.errors import InvalidRequest
from memoryd.mcp.answers import (
    Corpus,
    FoundText,
    FoundTexts,
    ProposalText,
    ProposalTexts,
    ReadText,
    beginning,
    filled,
    json_of,
    shown,
    text_cost,
)
from memoryd.mcp.arguments import GetArguments, NoArguments, RecallArguments, SearchArguments
from memoryd.mcp.caller import ToolCaller
from memoryd.replies.knowledge import ProposalReply
from memoryd.replies.memories import MemoryDocumentReply, MemorySearchReply
from memoryd.replies.recall import RecallItemReply, RecallReply
from memoryd.replies.search import HitReply, SearchHealth, SearchReply
from memoryd.wire import LINES_MAX, POSITION_MAX

PROPOSALS_SHOWN = 20
_SOURCES = {"all": None, "notes": ["memory"], "sessions": ["sessions"]}
_REASON_CHARS = 300
_BY_WORTH = ("answerable", "weak", "none")
Verdictful = SearchReply | RecallReply | MemorySearchReply
"""What has a verdict, a reason and a state of health."""
_TOOK_PART = ("ok", "off")
_HEAD = 60
"""Tokens of the line above the text of a document."""
_LEAD_CHARS = 300
_REST_CUT = "the rest is left out: an answer has {:,} tokens at most (--max-tokens)"
_SOURCES_SHOWN = 5


async def memory_search(arguments: SearchArguments, caller: ToolCaller) -> FoundTexts:
    """Find what answers, in notes, memories or conversations."""
    if arguments.scope is not None and arguments.corpus not in ("all", "memories"):
        raise InvalidRequest("only memories have a scope", hint="leave out scope, or ask corpus memories")
    if arguments.corpus == "memories" or arguments.scope is not None:
        if arguments.path is not None:
            raise InvalidRequest("memories have no path", hint="leave out path, or ask corpus notes")
        memories, reply = await _memories(arguments, caller)
        return _bounded_answer(memories, [reply], caller.max_tokens)
    searched = await _searched(arguments, caller)
    notes = [_hit(hit) for hit in searched["results"]]
    if arguments.corpus != "all" or arguments.path is not None:
        return _bounded_answer(notes, [searched], caller.max_tokens)
    memories, reply = await _memories(arguments, caller)
    merged = _merged(memories, notes, arguments.max_results)
    return _bounded_answer(merged, [reply, searched], caller.max_tokens)


async def recall(arguments: RecallArguments, caller: ToolCaller) -> FoundTexts:
    """Recall memories and passages."""
    reply = await caller.ask(Client.recall, **arguments.model_dump(exclude={"budget"}))
    limit = caller.max_tokens if arguments.budget is None else min(caller.max_tokens, arguments.budget)
    return _bounded_answer(found_in_memories(reply, memories_only=False), [reply], limit)


async def reflect_proposals(_arguments: NoArguments, caller: ToolCaller) -> ProposalTexts:
    """List the changes that wait for the owner."""
    reply = await caller.ask(Client.proposals, limit=PROPOSALS_SHOWN)
    frame = ProposalTexts(results=[], total=reply["total"])
    return filled(frame, [_proposed(one) for one in reply["proposals"]], caller.max_tokens)


async def _searched(arguments: SearchArguments, caller: ToolCaller) -> SearchReply:
    bounds = arguments.model_dump(include={"query", "max_results", "min_score", "since", "until"})
    paths = None if arguments.path is None else [arguments.path]
    return await caller.ask(Client.search, sources=_SOURCES[arguments.corpus], paths=paths, **bounds)


async def _memories(arguments: SearchArguments, caller: ToolCaller) -> tuple[list[FoundText], Verdictful]:
    """Return the memories that answer; of some days by way of recall, which alone knows when something happened."""
    most = arguments.max_results
    if arguments.since is None and arguments.until is None:
        found = await caller.ask(Client.search_memories, arguments.query, scope=arguments.scope, top_k=most)
        return [document_piece(one) for one in found["memories"]], found
    bounds = arguments.model_dump(include={"query", "since", "until", "scope"})
    recalled = await caller.ask(Client.recall, k=most, **bounds)
    return found_in_memories(recalled, memories_only=True), recalled


def _merged(memories: list[FoundText], notes: list[FoundText], most: int | None) -> list[FoundText]:
    """Return memories and the notes that are not their lines, what answers best first."""
    stated = {(one.path, one.start_line) for one in memories}
    rest = [one for one in notes if (one.path, one.start_line) not in stated]
    return sorted([*memories, *rest], key=lambda one: -(one.score or 0))[:most]


def _bounded_answer(found: list[FoundText], replies: Sequence[Verdictful], limit: int) -> FoundTexts:
    reasons = [reply["reason"] for reply in replies if reply["reason"]]
    missing = dict.fromkeys(part for reply in replies for part in missing_of(reply["health"]))
    frame = FoundTexts(
        results=[],
        verdict=min((reply["verdict"] for reply in replies), key=_BY_WORTH.index),
        # what one of two did not find, the other one may have
        reason=reasons[0][:_REASON_CHARS] if len(reasons) == len(replies) else None,
        missing="; ".join(missing)[:_REASON_CHARS] or None,
    )
    return filled(frame, found, limit)


def _proposed(reply: ProposalReply) -> ProposalText:
    text, flags = shown(f"{reply['why']}\n{reply['diff']}")
    return ProposalText(
        id=reply["id"], kind=reply["kind"], path=reply["path"], text=text, day=reply["madeAt"][:10], flags=flags
    )


def found_in_memories(reply: RecallReply, *, memories_only: bool) -> list[FoundText]:
    """Return what was recalled, or of it the memories."""
    return [_item(item) for item in reply["results"] if item["is"] == "memory" or not memories_only]


def document_piece(document: MemoryDocumentReply) -> FoundText:
    """Return a memory as a piece of an answer."""
    text, flags = shown(document["text"])
    cited = parse(document["citation"])
    return FoundText(
        text=text,
        corpus="memories",
        citation=document["citation"],
        path=cited.path,
        start_line=cited.start_line,
        end_line=cited.end_line,
        id=document["id"],
        kind=document["kind"],
        day=document["created_day"],
        about=document["entities"] or None,
        tier=document["tier"],
        pinned=document["pinned"] or None,
        scope=document["scope"],
        superseded=True if document["superseded_by"] else None,
        score=None if document["score"] is None else round(document["score"], 3),
        flags=flags,
    )


def missing_of(health: SearchHealth) -> Iterator[str]:
    """Yield the parts that should have taken part in an answer and did not, and why."""
    for arm, reply in health["arms"].items():
        if reply["state"] not in _TOOK_PART:
            yield f"{arm}: {reply['reason'] or reply['state']}"
    if health["pendingFiles"]:
        yield f"{health['pendingFiles']} files that are not read yet"


def _hit(hit: HitReply) -> FoundText:
    citation = hit.get("citation")
    # the last line of a snippet is the footer of its citation, which stands in a field here
    text, flags = shown(hit["snippet"].removesuffix(f"\n\nSource: {citation}"), hit["flags"])
    return FoundText(
        text=text,
        corpus="sessions" if is_conversation(hit["path"]) else "notes",
        citation=citation,
        path=hit["path"],
        start_line=hit["snippetStartLine"],
        end_line=hit["snippetEndLine"],
        score=round(hit["score"], 3),
        verdict=hit["verdict"],
        flags=flags,
    )


def _item(item: RecallItemReply) -> FoundText:
    text, flags = shown(item["content"])
    path, first, last = _place(item)
    return FoundText(
        text=text,
        corpus=_corpus(item, path),
        citation=item.get("citation"),
        path=path,
        start_line=first,
        end_line=last,
        id=item.get("id"),
        kind=item.get("type") or item.get("kind"),
        day=item.get("timestamp"),
        about=item.get("entities") or ([item["name"]] if "name" in item else None),
        confidence=item.get("confidence"),
        tier=item.get("tier"),
        scope=item.get("scope"),
        state=item.get("state"),
        superseded=True if item.get("supersededBy") else None,
        disputed=True if item.get("doubtedBy") else None,
        score=round(item["score"], 3) if "score" in item else None,
        verdict=item.get("verdict"),
        flags=flags,
    )


def _corpus(item: RecallItemReply, path: str | None) -> Corpus:
    if item["is"] == "entity":
        return "entities"
    if item["is"] == "memory":
        return "memories"
    return "sessions" if path is not None and is_conversation(path) else "notes"


def _place(item: RecallItemReply) -> tuple[str | None, int | None, int | None]:
    """Return path and lines: an item has them itself, or they stand in its source."""
    if "path" in item:
        return item["path"], item.get("startLine"), item.get("endLine")
    try:
        cited = parse(item.get("source") or "")
    except ValueError:
        return None, None, None
    return cited.path, cited.start_line, cited.end_line


async def memory_get(arguments: GetArguments, caller: ToolCaller) -> ReadText:
    """Read lines of a document or of a conversation, or a memory."""
    if (arguments.path is None) == (arguments.id is None):
        raise InvalidRequest("give a path or an id", hint='such as {"path": "MEMORY.md", "from": 1, "lines": 40}')
    if arguments.path is None:
        return await _memory(arguments.id or "", caller)
    if (conversation := conversation_cited(arguments.path)) is not None:
        return await _conversation(conversation, arguments, caller)
    return await _document(_cited(arguments.path), arguments, caller)


def _cited(path: str) -> Citation:
    if "#L" not in path:
        return Citation(path)  # a file name may hold a #
    try:
        return parse(path)
    except ValueError as exc:
        raise InvalidRequest(str(exc)) from exc


async def _document(cited: Citation, arguments: GetArguments, caller: ToolCaller) -> ReadText:
    start, lines = arguments.from_line, arguments.lines
    if cited.start_line is not None:
        if start is not None or lines is not None:
            _check_alone(cited)
        start, lines = cited.start_line, (cited.end_line or cited.start_line) - cited.start_line + 1
    reply = await caller.ask(Client.get, cited.path, start=start, lines=lines, column=arguments.column)
    answer = ReadText(
        text=reply["text"],
        path=reply["path"],
        from_line=reply["from"],
        lines=reply["lines"],
        total_lines=reply["totalLines"],
        next_from=reply["nextFrom"],
        next_column=reply["nextColumn"],
        sha256=reply["sha256"],
        flags=list(reply["flags"]) or None,
    )
    return _shown(_within(answer, caller.max_tokens, column=reply["column"]))


async def _memory(memory_id: str, caller: ToolCaller) -> ReadText:
    reply = await caller.ask(Client.get_memory, memory_id)
    found = reply["memory"]
    told = document_piece(found)
    abstract, _ = shown(found["abstract_text"])
    lead = told.model_copy(update={"text": abstract[:_LEAD_CHARS]})
    answer = ReadText(text=found["text"], memory=lead, sources=found["sources"][:_SOURCES_SHOWN])
    return _shown(_within(answer, caller.max_tokens))


async def _conversation(cited: Citation, arguments: GetArguments, caller: ToolCaller) -> ReadText:
    start, count = arguments.from_line, arguments.lines
    if start is not None or count is not None:
        _check_alone(cited)
        first = start or 1
        cited = Citation(cited.path, first, first + (count or LINES_MAX) - 1)
        # by lines, for a turn has two of them
        citation = f"{cited.path}#L{cited.start_line}-L{cited.end_line}"
    else:
        citation = arguments.path or ""
    reply = await caller.ask(Client.session_lines, citation)
    numbers = [line["line"] for line in reply["lines"]]
    answer = ReadText(
        text="".join(f"{line['text']}\n" for line in reply["lines"]),
        path=reply["id"],
        from_line=numbers[0] if numbers else None,
        lines=len(numbers),
        next_from=reply["nextLine"],
    )
    return _shown(_within(answer, caller.max_tokens, numbers=numbers))


def _check_alone(cited: Citation) -> None:
    if cited.start_line is not None:
        raise InvalidRequest("the citation says which lines", hint="leave out from and lines, or the lines in path")


def _within(answer: ReadText, limit: int, *, column: int = 1, numbers: Sequence[int] | None = None) -> ReadText:
    """Return an answer that fits, and where it goes on; a line that is too long is cut inside.

    `numbers` are those of the lines of a conversation, which cannot be read on from inside a line.
    """
    if estimate(json_of(answer)) <= limit and text_cost(answer.text) + _HEAD <= limit:
        return answer
    cut = _REST_CUT.format(limit)
    frame = answer.model_copy(update={"text": "", "cut": cut, "next_from": POSITION_MAX, "next_column": POSITION_MAX})
    text = beginning(answer.text, limit - estimate(json_of(frame)), text_cost)
    first, whole, is_inside = answer.from_line or 1, text.count("\n"), not text.endswith("\n")
    following: int | None = first + whole
    next_column = None
    if numbers is not None:
        following = next(iter(numbers[whole + is_inside :]), answer.next_from)
    elif is_inside:
        next_column = len(text.rpartition("\n")[2]) + (column if not whole else 1)
    return answer.model_copy(
        update={
            "text": text,
            "lines": whole + is_inside,
            "next_from": following,
            "next_column": next_column,
            "cut": cut,
        }
    )


def _shown(answer: ReadText) -> ReadText:
    text, flags = shown(answer.text, answer.flags or ())
    return answer.model_copy(update={"text": text, "flags": flags})
