"""Tools that only read: search, get, recall, and the proposals that wait for the owner."""

from collections.abc import Sequence

from memoryd.domain.citations import Citation, conversation_cited, parse
from memoryd.domain.text.tokens import estimate
from memoryd.errors import InvalidRequest
from memoryd.mcp.found_texts import document_told, found_documents, found_in_memories, found_in_notes, missing_of
from memoryd.mcp.token_bound import beginning, bounded
from memoryd.mcp.tool_answers import FoundText, FoundTexts, ProposalText, ProposalTexts, ReadText
from memoryd.mcp.tool_arguments import GetArguments, NoArguments, RecallArguments, SearchArguments
from memoryd.mcp.tool_caller import ToolCaller
from memoryd.mcp.tool_text import json_of, piece_told, shown, text_cost
from memoryd.replies.memories import MemorySearchReply
from memoryd.replies.recall import RecallReply
from memoryd.replies.reflect import ProposalReply
from memoryd.replies.search import SearchReply
from memoryd.wire import POSITION_MAX

PROPOSALS_SHOWN = 20
_SOURCES = {"all": None, "notes": ["memory"], "sessions": ["sessions"]}
_REASON_CHARS = 300
_SOURCES_SHOWN = 5
_HEAD = 60
"""Tokens of the line above the text of a document."""
_BY_WORTH = ("answerable", "weak", "none")


Verdictful = SearchReply | RecallReply | MemorySearchReply
"""What has a verdict, a reason and a state of health."""


async def memory_search(arguments: SearchArguments, caller: ToolCaller) -> FoundTexts:
    """Find what answers, in notes, memories or conversations."""
    if arguments.corpus == "memories":
        if arguments.path is not None:
            raise InvalidRequest("memories have no path", hint="leave out path, or ask corpus notes")
        memories, reply = await _memories(arguments, caller)
        return _told(memories, [reply], caller.max_tokens)
    searched = await _searched(arguments, caller)
    if arguments.corpus != "all" or arguments.path is not None:
        return _told(found_in_notes(searched), [searched], caller.max_tokens)
    memories, reply = await _memories(arguments, caller)
    merged = _merged(memories, found_in_notes(searched), arguments.max_results)
    return _told(merged, [reply, searched], caller.max_tokens)


async def recall(arguments: RecallArguments, caller: ToolCaller) -> FoundTexts:
    """Recall memories and passages."""
    reply = await caller.ask(
        lambda memory: memory.recall(
            arguments.query,
            k=arguments.k,
            since=arguments.since,
            until=arguments.until,
            as_of=arguments.as_of,
            known_by=arguments.known_by,
            entity=arguments.entity,
            kind=arguments.kind,
            scope=arguments.scope,
            agent=caller.agent,
            session_key=caller.session_key,
        )
    )
    limit = caller.max_tokens if arguments.budget is None else min(caller.max_tokens, arguments.budget)
    return _told(found_in_memories(reply, memories_only=False), [reply], limit)


async def memory_get(arguments: GetArguments, caller: ToolCaller) -> ReadText:
    """Read lines of a document or of a conversation, or a memory."""
    if (arguments.path is None) == (arguments.id is None):
        raise InvalidRequest("give a path or an id", hint='such as {"path": "MEMORY.md", "from": 1, "lines": 40}')
    if arguments.path is None:
        return await _memory(arguments.id or "", caller)
    if conversation_cited(arguments.path) is not None:
        return await _conversation(arguments.path, caller)
    return await _document(_cited(arguments.path), arguments, caller)


async def reflect_proposals(_arguments: NoArguments, caller: ToolCaller) -> ProposalTexts:
    """List the changes that wait for the owner."""
    reply = await caller.ask(
        lambda memory: memory.proposals(limit=PROPOSALS_SHOWN, session_key=caller.session_key, agent=caller.agent)
    )
    frame = ProposalTexts(results=[], total=reply["total"])
    found = [_proposed(one) for one in reply["proposals"]]
    kept, cut = bounded(found, caller.max_tokens, json_of(frame), piece_told)
    return frame.model_copy(update={"results": kept, "cut": cut or None})


async def _searched(arguments: SearchArguments, caller: ToolCaller) -> SearchReply:
    return await caller.ask(
        lambda memory: memory.search(
            arguments.query,
            agent=caller.agent,
            max_results=arguments.max_results,
            session_key=caller.session_key,
            sources=_SOURCES[arguments.corpus],
            since=arguments.since,
            until=arguments.until,
            paths=None if arguments.path is None else [arguments.path],
        )
    )


async def _memories(arguments: SearchArguments, caller: ToolCaller) -> tuple[list[FoundText], Verdictful]:
    """Return the memories that answer; of some days by way of recall, which alone knows when something happened."""
    if arguments.since is None and arguments.until is None:
        found = await caller.ask(
            lambda memory: memory.search_memories(
                arguments.query, top_k=arguments.max_results, agent=caller.agent, session_key=caller.session_key
            )
        )
        return found_documents(found), found
    recalled = await caller.ask(
        lambda memory: memory.recall(
            arguments.query,
            k=arguments.max_results,
            since=arguments.since,
            until=arguments.until,
            agent=caller.agent,
            session_key=caller.session_key,
        )
    )
    return found_in_memories(recalled, memories_only=True), recalled


def _merged(memories: list[FoundText], notes: list[FoundText], most: int | None) -> list[FoundText]:
    """Return memories and the notes that are not their lines, what answers best first."""
    stated = {(one.path, one.start_line) for one in memories}
    rest = [one for one in notes if (one.path, one.start_line) not in stated]
    return sorted([*memories, *rest], key=lambda one: -(one.score or 0))[:most]


def _told(found: list[FoundText], replies: Sequence[Verdictful], limit: int) -> FoundTexts:
    reasons = [reply["reason"] for reply in replies if reply["reason"]]
    missing = dict.fromkeys(part for reply in replies for part in missing_of(reply["health"]))
    frame = FoundTexts(
        results=[],
        verdict=min((reply["verdict"] for reply in replies), key=_BY_WORTH.index),
        # what one of two did not find, the other one may have
        reason=reasons[0][:_REASON_CHARS] if len(reasons) == len(replies) else None,
        missing="; ".join(missing)[:_REASON_CHARS] or None,
    )
    kept, cut = bounded(found, limit, json_of(frame), piece_told)
    return frame.model_copy(update={"results": kept, "cut": cut or None})


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
            raise InvalidRequest("the citation says which lines", hint="leave out from and lines, or the lines in path")
        start, lines = cited.start_line, (cited.end_line or cited.start_line) - cited.start_line + 1
    reply = await caller.ask(
        lambda memory: memory.get(
            cited.path,
            agent=caller.agent,
            start=start,
            lines=lines,
            column=arguments.column,
            session_key=caller.session_key,
        )
    )
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
    return _shown(_within(answer, caller.max_tokens, reply["column"]))


async def _memory(memory_id: str, caller: ToolCaller) -> ReadText:
    reply = await caller.ask(
        lambda memory: memory.get_memory(memory_id, session_key=caller.session_key, agent=caller.agent)
    )
    found = reply["memory"]
    told = document_told(found)
    abstract, _ = shown(found["abstract_text"])
    lead = told.model_copy(update={"text": abstract[:_REASON_CHARS]})
    answer = ReadText(text=found["text"], memory=lead, sources=found["sources"][:_SOURCES_SHOWN])
    return _shown(_within(answer, caller.max_tokens, 1))


async def _conversation(citation: str, caller: ToolCaller) -> ReadText:
    reply = await caller.ask(
        lambda memory: memory.session_lines(citation, session_key=caller.session_key, agent=caller.agent)
    )
    lines = reply["lines"]
    answer = ReadText(
        text="".join(f"{line['text']}\n" for line in lines),
        path=reply["citation"],
        from_line=lines[0]["line"] if lines else None,
        lines=len(lines),
        next_from=reply["nextLine"],
    )
    return _shown(_within(answer, caller.max_tokens, 1))


def _within(answer: ReadText, limit: int, column: int) -> ReadText:
    """Return an answer that fits, and where it goes on; a line that is too long is cut inside."""
    if estimate(json_of(answer)) <= limit and text_cost(answer.text) + _HEAD <= limit:
        return answer
    cut = f"the rest is left out: an answer has {limit:,} tokens at most (--max-tokens)"
    frame = answer.model_copy(update={"text": "", "cut": cut, "next_from": POSITION_MAX, "next_column": POSITION_MAX})
    text = beginning(answer.text, limit - estimate(json_of(frame)), text_cost)
    first, whole = answer.from_line or 1, text.count("\n")
    is_inside = not text.endswith("\n")
    offset = len(text.rpartition("\n")[2])
    return answer.model_copy(
        update={
            "text": text,
            "lines": whole + is_inside,
            "next_from": first + whole,
            "next_column": (offset + (column if not whole else 1)) if is_inside else None,
            "cut": cut,
        }
    )


def _shown(answer: ReadText) -> ReadText:
    text, flags = shown(answer.text, answer.flags)
    return answer.model_copy(update={"text": text, "flags": flags})


def _proposed(reply: ProposalReply) -> ProposalText:
    text, flags = shown(f"{reply['why']}\n{reply['diff']}")
    return ProposalText(
        id=reply["id"], kind=reply["kind"], path=reply["path"], text=text, day=reply["madeAt"][:10], flags=flags
    )
