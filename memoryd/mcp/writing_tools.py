"""Tools that write: each change is one of the journal, told with its number, and can be taken back."""

from memoryd.domain.memories.kinds import SHORT_SIGNS
from memoryd.errors import InvalidRequest
from memoryd.mcp.answers import WrittenAnswer
from memoryd.mcp.arguments import AddArguments, CoreAddArguments, CoreEditArguments, MemoryArguments, ReplaceArguments
from memoryd.mcp.caller import ToolCaller
from memoryd.replies.changes import CoreEditReply
from memoryd.replies.memories import MemoryDocumentReply

_NEEDS = {"append": (), "insert": ("after",), "replace": ("old",)}
"""What an edit needs beside its text."""


async def memory_add(arguments: AddArguments, caller: ToolCaller) -> WrittenAnswer:
    """State a memory in today's log, as from the agent."""
    reply = await caller.write(
        lambda memory: memory.add_memory(
            arguments.text,
            kind=arguments.kind,
            importance=arguments.importance,
            scope=arguments.scope,
            tags=arguments.tags,
            by_agent=True,
            session_key=caller.session_key,
            agent=caller.agent,
        )
    )
    done = "remembered" if reply["created"] else "known already"
    changes = [] if reply["change"] is None else [reply["change"]]
    return _of_memory(done, reply["memory"], changes, notes=reply["notes"], created=reply["created"])


async def memory_pin(arguments: MemoryArguments, caller: ToolCaller) -> WrittenAnswer:
    """Pin a memory."""
    reply = await caller.write(
        lambda memory: memory.pin_memory(arguments.id, session_key=caller.session_key, agent=caller.agent)
    )
    return _of_memory("pinned" if reply["changed"] else "it is pinned already", reply["memory"], reply["changes"])


async def memory_unpin(arguments: MemoryArguments, caller: ToolCaller) -> WrittenAnswer:
    """Take the pin of a memory away."""
    reply = await caller.write(
        lambda memory: memory.unpin_memory(arguments.id, session_key=caller.session_key, agent=caller.agent)
    )
    return _of_memory("unpinned" if reply["changed"] else "it is not pinned", reply["memory"], reply["changes"])


async def memory_replace(arguments: ReplaceArguments, caller: ToolCaller) -> WrittenAnswer:
    """Write what holds now in the place of a memory, as from the agent."""
    reply = await caller.write(
        lambda memory: memory.replace_memory(
            arguments.id, arguments.text, by_agent=True, session_key=caller.session_key, agent=caller.agent
        )
    )
    done = f"replaced {reply['replaced'][:SHORT_SIGNS]}" if reply["changed"] else "it says so already"
    return _of_memory(done, reply["memory"], reply["changes"], run=reply["run"], notes=reply["notes"])


async def memory_delete(arguments: MemoryArguments, caller: ToolCaller) -> WrittenAnswer:
    """Take the lines of a memory out."""
    reply = await caller.write(
        lambda memory: memory.delete_memory(arguments.id, session_key=caller.session_key, agent=caller.agent)
    )
    changes = reply["changes"]
    undo = _undo(changes, reply["run"])
    return WrittenAnswer(
        done="deleted", id=reply["id"], changes=changes or None, undo=undo, notes=reply["lines"] or None
    )


def _of_memory(
    done: str,
    memory: MemoryDocumentReply,
    changes: list[int],
    *,
    run: str | None = None,
    notes: list[str] | None = None,
    created: bool | None = None,
) -> WrittenAnswer:
    return WrittenAnswer(
        done=done,
        id=memory["id"],
        citation=memory["citation"],
        created=created,
        changes=changes or None,
        undo=_undo(changes, run),
        notes=notes or None,
    )


def _undo(changes: list[int], run: str | None = None) -> str | None:
    """Return the commands that take changes back, the last one first; a run takes back all of its own."""
    if run:
        return f"memoryctl undo --run {run}"
    return " && ".join(f"memoryctl undo {change}" for change in reversed(changes)) or None


async def core_add(arguments: CoreAddArguments, caller: ToolCaller) -> WrittenAnswer:
    """Add lines to the core file."""
    return await core_edit(CoreEditArguments(**arguments.model_dump()), caller)


async def core_edit(arguments: CoreEditArguments, caller: ToolCaller) -> WrittenAnswer:
    """Add lines to the core file, or put a text in the place of another."""
    _check(arguments)
    given = {"expected": arguments.expected, "session_key": caller.session_key, "agent": caller.agent}
    text, after, old = arguments.text, arguments.after or "", arguments.old or ""
    match arguments.action:
        case "append":
            reply = await caller.write(lambda memory: memory.core_append(text, **given))
        case "insert":
            reply = await caller.write(lambda memory: memory.core_insert(text, after=after, **given))
        case "replace":
            reply = await caller.write(lambda memory: memory.core_replace(old, text, **given))
    return _edited(reply)


def _check(arguments: CoreEditArguments) -> None:
    needed = _NEEDS[arguments.action]
    for name in ("after", "old"):
        if (name in needed) != (getattr(arguments, name) is not None):
            verb = "needs" if name in needed else "takes no"
            raise InvalidRequest(f"{arguments.action} {verb} {name!r}")
    if not arguments.text and arguments.action != "replace":
        raise InvalidRequest(f"{arguments.action} needs a text")


def _edited(reply: CoreEditReply) -> WrittenAnswer:
    changes = [] if reply["change"] is None else [reply["change"]]
    return WrittenAnswer(
        done="written" if reply["changed"] else "nothing to write, it reads so already",
        path=reply["path"],
        changes=changes or None,
        undo=_undo(changes),
        notes=reply["notes"] or None,
    )
