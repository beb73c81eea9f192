"""The tool that reads what was found: lines of a document or of a conversation, or a memory."""

from memoryd.domain.citations import Citation, conversation_cited, parse
from memoryd.domain.text.tokens import estimate
from memoryd.errors import InvalidRequest
from memoryd.mcp.found_texts import document_told
from memoryd.mcp.token_bound import beginning
from memoryd.mcp.tool_answers import ReadText
from memoryd.mcp.tool_arguments import GetArguments
from memoryd.mcp.tool_caller import ToolCaller
from memoryd.mcp.tool_text import json_of, shown, text_cost
from memoryd.replies.conversations import SessionLinesReply
from memoryd.wire import LINES_MAX, POSITION_MAX

_HEAD = 60
"""Tokens of the line above the text of a document."""
_LEAD_CHARS = 300
_SOURCES_SHOWN = 5


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
    lead = told.model_copy(update={"text": abstract[:_LEAD_CHARS]})
    answer = ReadText(text=found["text"], memory=lead, sources=found["sources"][:_SOURCES_SHOWN])
    return _shown(_within(answer, caller.max_tokens, 1))


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
    reply = await caller.ask(
        lambda memory: memory.session_lines(citation, session_key=caller.session_key, agent=caller.agent)
    )
    return _shown(_turns_within(reply, caller.max_tokens))


def _turns_within(reply: SessionLinesReply, limit: int) -> ReadText:
    """Return so many lines of a conversation as there is room for, at least the beginning of one."""
    lines, path = reply["lines"], reply["id"]
    numbers = [line["line"] for line in lines]
    cut = f"the rest is left out: an answer has {limit:,} tokens at most (--max-tokens)"
    frame = ReadText(text="", path=path, from_line=POSITION_MAX, lines=POSITION_MAX, next_from=POSITION_MAX, cut=cut)
    room, text, count = limit - estimate(json_of(frame)), "", 0
    for line in lines:
        more = f"{text}{line['text']}\n"
        if text_cost(more) > room:
            break
        text, count = more, count + 1
    if not count and lines:
        text, count = beginning(lines[0]["text"], room, text_cost), 1
    is_cut = count < len(lines) or (count == 1 and not text.endswith("\n"))
    return ReadText(
        text=text,
        path=path,
        from_line=numbers[0] if numbers else None,
        lines=count,
        next_from=numbers[count] if count < len(lines) else reply["nextLine"],
        cut=cut if is_cut else None,
    )


def _check_alone(cited: Citation) -> None:
    if cited.start_line is not None:
        raise InvalidRequest("the citation says which lines", hint="leave out from and lines, or the lines in path")


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
