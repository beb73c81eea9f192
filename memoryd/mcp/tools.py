"""The tools that search, recall, list proposals and read lines or a memory, and the tools that write.

Each change is recorded in the journal: the answer contains its number, and the owner can undo it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from memoryd.client import Client, undo_command
from memoryd.domain.documents import Citation, conversation_cited, is_conversation, parse, person_of
from memoryd.domain.memories.kinds import ID_PREFIX_CHARS
from memoryd.domain.text.tokens import estimate
from memoryd.errors import InvalidRequest
from memoryd.mcp.answers import (
    Corpus,
    FoundText,
    FoundTexts,
    ProposalText,
    ProposalTexts,
    ReadText,
    WrittenAnswer,
    beginning,
    clean_text,
    fill_answer,
    json_of,
    text_cost,
)
from memoryd.mcp.arguments import (
    AddArguments,
    CoreAddArguments,
    CoreEditArguments,
    GetArguments,
    MemoryArguments,
    NoArguments,
    PromoteArguments,
    RecallArguments,
    ReplaceArguments,
    SearchArguments,
)
from memoryd.mcp.caller import ToolCaller
from memoryd.replies.memories import MemoryDocumentReply, MemorySearchReply
from memoryd.replies.recall import RecallItemReply, RecallReply
from memoryd.replies.search import HitReply, SearchHealth, SearchReply
from memoryd.wire import LINES_MAX, POSITION_MAX

PROPOSALS_SHOWN = 20
_SOURCES = {"all": None, "notes": ["memory"], "sessions": ["sessions"]}
_REASON_CHARS = 300
_VERDICTS = ("answerable", "weak", "none")
AnyAnswer = SearchReply | RecallReply | MemorySearchReply
"""A reply with a verdict, a reason and a state of health."""
_FINE_STATES = ("ok", "off")
_HEAD_TOKENS = 60
"""Tokens reserved for the line above the text of a document."""
_LEAD_CHARS = 300
_LAST_CITED = 999_999_999
"""The last line for an open range; a citation has nine digits at most."""
_SOURCES_SHOWN = 5
_NEEDS = {"append": (), "insert": ("after",), "replace": ("old",)}
"""The arguments that an edit needs besides its text."""


async def memory_search(arguments: SearchArguments, caller: ToolCaller) -> FoundTexts:
    """Search notes, memories or conversations."""
    if arguments.scope is not None and arguments.corpus not in ("all", "memories"):
        raise InvalidRequest("only memories have a scope", hint="leave out scope, or ask corpus memories")
    if arguments.corpus == "memories" or arguments.scope is not None:
        if arguments.path is not None:
            raise InvalidRequest("memories have no path", hint="leave out path, or ask corpus notes")
        memories, reply = await _memories(arguments, caller)
        return _build_answer(memories, [reply], caller.max_tokens)
    bounds = arguments.model_dump(include={"query", "max_results", "min_score", "since", "until"})
    paths = None if arguments.path is None else [arguments.path]
    search = await caller.ask(Client.search, sources=_SOURCES[arguments.corpus], paths=paths, **bounds)
    notes = [_hit(hit) for hit in search["results"]]
    if arguments.corpus != "all" or arguments.path is not None:
        return _build_answer(notes, [search], caller.max_tokens)
    memories, reply = await _memories(arguments, caller)
    # notes without the lines of these memories
    stated = {(memory.path, memory.start_line) for memory in memories}
    rest = [note for note in notes if (note.path, note.start_line) not in stated]
    # without a requested number, at most the larger of the two configured numbers
    most = arguments.max_results or max(len(notes), len(memories))
    best = sorted([*memories, *rest], key=lambda piece: -(piece.score or 0))
    return _build_answer(best[:most], [reply, search], caller.max_tokens)


async def recall(arguments: RecallArguments, caller: ToolCaller) -> FoundTexts:
    """Recall memories and passages."""
    reply = await caller.ask(Client.recall, **arguments.model_dump(exclude={"budget"}))
    limit = caller.max_tokens if arguments.budget is None else min(caller.max_tokens, arguments.budget)
    return _build_answer(list(map(_item, reply["results"])), [reply], limit)


async def reflect_proposals(_arguments: NoArguments, caller: ToolCaller) -> ProposalTexts:
    """List the changes that wait for the owner."""
    reply = await caller.ask(Client.proposals, limit=PROPOSALS_SHOWN)
    pieces = []
    for row in reply["proposals"]:
        text, flags = clean_text(f"{row['why']}\n{row['diff']}")
        day = row["madeAt"][:10]
        pieces.append(ProposalText(id=row["id"], kind=row["kind"], path=row["path"], text=text, day=day, flags=flags))
    return fill_answer(ProposalTexts(results=[], total=reply["total"]), pieces, caller.max_tokens)


async def _memories(arguments: SearchArguments, caller: ToolCaller) -> tuple[list[FoundText], AnyAnswer]:
    """Return the memories that answer; with days by recall, which alone knows event times."""
    limit = arguments.max_results
    if arguments.since is None and arguments.until is None:
        search = await caller.ask(Client.search_memories, arguments.query, scope=arguments.scope, top_k=limit)
        return list(map(_memory_piece, search["memories"])), search
    bounds = arguments.model_dump(include={"query", "since", "until", "scope"})
    reply = await caller.ask(Client.recall, k=limit, **bounds)
    return [_item(item) for item in reply["results"] if item["is"] == "memory"], reply


def _build_answer(pieces: list[FoundText], replies: Sequence[AnyAnswer], limit: int) -> FoundTexts:
    reasons = [reply["reason"] for reply in replies if reply["reason"]]
    missing = dict.fromkeys(part for reply in replies for part in _missing_parts(reply["health"]))
    frame = FoundTexts(
        results=[],
        verdict=min((reply["verdict"] for reply in replies), key=_VERDICTS.index),
        # if only one of two replies found nothing, the other one may have found something
        reason=reasons[0][:_REASON_CHARS] if len(reasons) == len(replies) else None,
        missing="; ".join(missing)[:_REASON_CHARS] or None,
    )
    return fill_answer(frame, pieces, limit)


def _memory_piece(document: MemoryDocumentReply) -> FoundText:
    """Return a memory as a piece of an answer."""
    text, flags = clean_text(document["text"], document["flags"])
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
        person=person_of(cited.path) or None,
        superseded=True if document["superseded_by"] else None,
        score=None if document["score"] is None else round(document["score"], 3),
        flags=flags,
    )


def _missing_parts(health: SearchHealth) -> Iterator[str]:
    """Yield the parts of an answer that were not available, with the reason."""
    for arm, reply in health["arms"].items():
        if reply["state"] not in _FINE_STATES:
            yield f"{arm}: {reply['reason'] or reply['state']}"
    if health["pendingFiles"]:
        yield f"{health['pendingFiles']} files that are not read yet"


def _hit(hit: HitReply) -> FoundText:
    citation = hit.get("citation")
    # the last line of a snippet is the footer with its citation, which is a field here
    text, flags = clean_text(hit["snippet"].removesuffix(f"\n\nSource: {citation}"), hit["flags"])
    return FoundText(
        text=text,
        corpus="sessions" if is_conversation(hit["path"]) else "notes",
        citation=citation,
        path=hit["path"],
        start_line=hit["snippetStartLine"],
        end_line=hit["snippetEndLine"],
        person=hit.get("person"),
        score=round(hit["score"], 3),
        verdict=hit["verdict"],
        flags=flags,
    )


def _item(item: RecallItemReply) -> FoundText:
    text, flags = clean_text(item["content"], item.get("flags") or ())
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
        person=item.get("person"),
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
    """Return path and lines of an item, from its fields or from its source."""
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
        return await _memory(arguments, caller)
    if (conversation := conversation_cited(arguments.path)) is not None:
        return await _conversation(conversation, arguments, caller)
    return await _document(_parse_path(arguments.path), arguments, caller)


def _parse_path(path: str) -> Citation:
    if "#L" not in path:
        return Citation(path)  # a file name may contain a #
    try:
        return parse(path)
    except ValueError as exc:
        raise InvalidRequest(str(exc)) from exc


async def _document(cited: Citation, arguments: GetArguments, caller: ToolCaller) -> ReadText:
    start, lines = arguments.from_line, arguments.lines
    if cited.start_line is not None:
        if start is not None or lines is not None:
            _check_alone(cited)
        start, lines = cited.start_line, min((cited.end_line or cited.start_line) - cited.start_line + 1, LINES_MAX)
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
    return _clean_answer(_fit_answer(answer, caller.max_tokens, column=reply["column"]))


async def _memory(arguments: GetArguments, caller: ToolCaller) -> ReadText:
    document = (await caller.ask(Client.get_memory, arguments.id or ""))["memory"]
    first, column = arguments.from_line or 1, arguments.column or 1
    lines = document["text"].split("\n")[first - 1 :]
    count = arguments.lines or len(lines)
    abstract, _ = clean_text(document["abstract_text"])
    lead = _memory_piece(document).model_copy(update={"text": abstract[:_LEAD_CHARS]})
    answer = ReadText(
        text="\n".join(lines[:count])[column - 1 :],
        from_line=arguments.from_line,
        next_from=first + count if lines[count:] else None,
        memory=lead,
        sources=document["sources"][:_SOURCES_SHOWN],
    )
    return _clean_answer(_fit_answer(answer, caller.max_tokens, column=column))


async def _conversation(cited: Citation, arguments: GetArguments, caller: ToolCaller) -> ReadText:
    start, count = arguments.from_line, arguments.lines
    citation, end = arguments.path or "", POSITION_MAX
    if start is not None or count is not None:
        _check_alone(cited)
        first = start or 1
        # by lines, since a turn has two of them; to the end, to find the line that follows the requested ones
        citation, end = f"{cited.path}#L{first}-L{_LAST_CITED}", first + (count or LINES_MAX)
    reply = await caller.ask(Client.session_lines, citation)
    lines = [line for line in reply["lines"] if line["line"] < end]
    numbers = [line["line"] for line in lines]
    answer = ReadText(
        text="".join(f"{line['text']}\n" for line in lines),
        path=reply["id"],
        from_line=numbers[0] if numbers else None,
        lines=len(numbers),
        to_line=numbers[-1] if numbers else None,
        next_from=next((line["line"] for line in reply["lines"][len(lines) :]), reply["nextLine"]),
    )
    return _clean_answer(_fit_answer(answer, caller.max_tokens, numbers=numbers))


def _check_alone(cited: Citation) -> None:
    if cited.start_line is not None:
        raise InvalidRequest("the citation says which lines", hint="leave out from and lines, or the lines in path")


def _fit_answer(answer: ReadText, limit: int, *, column: int = 1, numbers: Sequence[int] | None = None) -> ReadText:
    """Return an answer that fits, and where it continues; a line that is too long is cut inside.

    `numbers` are the line numbers of a conversation, in which reading cannot continue inside a line.
    """
    if estimate(json_of(answer)) <= limit and text_cost(answer.text) + _HEAD_TOKENS <= limit:
        return answer
    cut = f"the rest is left out: an answer has {limit:,} tokens at most (--max-tokens)"
    frame = answer.model_copy(update={"text": "", "cut": cut, "next_from": POSITION_MAX, "next_column": POSITION_MAX})
    text = beginning(answer.text, limit - estimate(json_of(frame)), text_cost)
    first, complete, is_inside = answer.from_line or 1, text.count("\n"), not text.endswith("\n")
    following: int | None = first + complete
    next_column = last = None
    if numbers is not None:
        last = numbers[complete + is_inside - 1]
        following = next(iter(numbers[complete + is_inside :]), answer.next_from)
    elif is_inside:
        next_column = len(text.rpartition("\n")[2]) + (column if not complete else 1)
    return answer.model_copy(
        update={
            "text": text,
            "lines": complete + is_inside,
            "to_line": last,
            "next_from": following,
            "next_column": next_column,
            "cut": cut,
        }
    )


def _clean_answer(answer: ReadText) -> ReadText:
    text, flags = clean_text(answer.text, answer.flags or ())
    return answer.model_copy(update={"text": text, "flags": flags})


async def memory_add(arguments: AddArguments, caller: ToolCaller) -> WrittenAnswer:
    """Write a memory to today's log, with the agent as author."""
    reply = await caller.write(Client.add_memory, by_agent=True, **arguments.model_dump())
    done = "remembered" if reply["created"] else "known already"
    return _written_memory(
        caller, done, reply["memory"], [reply["change"]], notes=reply["notes"] or None, created=reply["created"]
    )


async def memory_pin(arguments: MemoryArguments, caller: ToolCaller) -> WrittenAnswer:
    """Pin a memory."""
    reply = await caller.write(Client.pin_memory, arguments.id)
    return _written_memory(
        caller, "pinned" if reply["changed"] else "it is pinned already", reply["memory"], reply["changes"]
    )


async def memory_unpin(arguments: MemoryArguments, caller: ToolCaller) -> WrittenAnswer:
    """Unpin a memory."""
    reply = await caller.write(Client.unpin_memory, arguments.id)
    return _written_memory(
        caller, "unpinned" if reply["changed"] else "it is not pinned", reply["memory"], reply["changes"]
    )


async def memory_replace(arguments: ReplaceArguments, caller: ToolCaller) -> WrittenAnswer:
    """Replace a memory by what is true now, with the agent as author."""
    reply = await caller.write(Client.replace_memory, arguments.id, arguments.text, by_agent=True)
    done = f"replaced {reply['replaced'][:ID_PREFIX_CHARS]}" if reply["changed"] else "it says so already"
    return _written_memory(
        caller, done, reply["memory"], reply["changes"], run=reply["run"], notes=reply["notes"] or None
    )


async def memory_delete(arguments: MemoryArguments, caller: ToolCaller) -> WrittenAnswer:
    """Delete the lines of a memory."""
    reply = await caller.write(Client.delete_memory, arguments.id)
    done = f"deleted from {', '.join(reply['lines'])}"
    return _written_answer(caller, done, reply["changes"], reply["run"], id=reply["id"], notes=reply["notes"] or None)


async def memory_promote(arguments: PromoteArguments, caller: ToolCaller) -> WrittenAnswer:
    """Share a memory with the team, or return what would be shared."""
    reply = await caller.write(Client.promote_memory, arguments.id, dry_run=not arguments.share)
    done = "shared" if reply["changed"] else "shared already" if reply["promoted"] else "not shared yet: a preview"
    notes = [reply["line"], f"read by: {', '.join(reply['readers'])}", *reply["notes"]]
    return WrittenAnswer(done=done, id=reply["id"], citation=reply["citation"], notes=notes)


def _written_memory(
    caller: ToolCaller,
    done: str,
    memory: MemoryDocumentReply,
    changes: Sequence[int | None],
    run: str | None = None,
    **details: Any,
) -> WrittenAnswer:
    return _written_answer(caller, done, changes, run, id=memory["id"], citation=memory["citation"], **details)


def _written_answer(
    caller: ToolCaller, done: str, changes: Sequence[int | None], run: str | None = None, **details: Any
) -> WrittenAnswer:
    """Return what was done, and the undo command: of the last change first, or of a complete run."""
    numbers = [number for number in changes if number is not None]
    undo = " && ".join(
        undo_command(name, caller.agent, caller.session_key) for name in ([run] if run else numbers[::-1])
    )
    return WrittenAnswer(done=done, changes=numbers or None, undo=undo or None, **details)


async def core_add(arguments: CoreAddArguments, caller: ToolCaller) -> WrittenAnswer:
    """Add lines to the core file."""
    return await core_edit(CoreEditArguments(**arguments.model_dump()), caller)


async def core_edit(arguments: CoreEditArguments, caller: ToolCaller) -> WrittenAnswer:
    """Add lines to the core file, or replace a text in it."""
    _check(arguments)
    text, after, old, expected = arguments.text, arguments.after or "", arguments.old or "", arguments.expected
    match arguments.action:
        case "append":
            reply = await caller.write(Client.core_append, text, expected=expected)
        case "insert":
            reply = await caller.write(Client.core_insert, text, after=after, expected=expected)
        case "replace":
            reply = await caller.write(Client.core_replace, old, text, expected=expected)
    done = "written" if reply["changed"] else "nothing to write: the file has this text already"
    return _written_answer(caller, done, [reply["change"]], path=reply["path"], notes=reply["notes"] or None)


def _check(arguments: CoreEditArguments) -> None:
    needed = _NEEDS[arguments.action]
    for name in ("after", "old"):
        if (name in needed) != (getattr(arguments, name) is not None):
            verb = "needs" if name in needed else "takes no"
            raise InvalidRequest(f"{arguments.action} {verb} {name!r}")
    if not arguments.text and arguments.action != "replace":
        raise InvalidRequest(f"{arguments.action} needs a text")
