"""Tools that find: search, recall, and the proposals that wait for the owner."""

from collections.abc import Sequence

from memoryd.errors import InvalidRequest
from memoryd.mcp.found_texts import found_documents, found_in_memories, found_in_notes, missing_of
from memoryd.mcp.token_bound import bounded
from memoryd.mcp.tool_answers import FoundText, FoundTexts, ProposalText, ProposalTexts
from memoryd.mcp.tool_arguments import NoArguments, RecallArguments, SearchArguments
from memoryd.mcp.tool_caller import ToolCaller
from memoryd.mcp.tool_text import json_of, piece_told, shown
from memoryd.replies.knowledge import ProposalReply
from memoryd.replies.memories import MemorySearchReply
from memoryd.replies.search import RecallReply, SearchReply

PROPOSALS_SHOWN = 20
_SOURCES = {"all": None, "notes": ["memory"], "sessions": ["sessions"]}
_REASON_CHARS = 300
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


def _proposed(reply: ProposalReply) -> ProposalText:
    text, flags = shown(f"{reply['why']}\n{reply['diff']}")
    return ProposalText(
        id=reply["id"], kind=reply["kind"], path=reply["path"], text=text, day=reply["madeAt"][:10], flags=flags
    )
