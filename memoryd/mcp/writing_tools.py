"""Tools that write: each change is one of the journal, told with its number, and can be taken back."""

from collections.abc import Sequence
from typing import Any

from memoryd.client import Client
from memoryd.domain.memories.kinds import ID_PREFIX_CHARS
from memoryd.errors import InvalidRequest
from memoryd.mcp.answers import WrittenAnswer
from memoryd.mcp.arguments import AddArguments, CoreAddArguments, CoreEditArguments, MemoryArguments, ReplaceArguments
from memoryd.mcp.caller import ToolCaller
from memoryd.replies.memories import MemoryDocumentReply

_NEEDS = {"append": (), "insert": ("after",), "replace": ("old",)}
"""What an edit needs beside its text."""


async def memory_add(arguments: AddArguments, caller: ToolCaller) -> WrittenAnswer:
    """State a memory in today's log, as from the agent."""
    reply = await caller.write(Client.add_memory, by_agent=True, **arguments.model_dump())
    done = "remembered" if reply["created"] else "known already"
    return _of_memory(done, reply["memory"], [reply["change"]], notes=reply["notes"], created=reply["created"])


async def memory_pin(arguments: MemoryArguments, caller: ToolCaller) -> WrittenAnswer:
    """Pin a memory."""
    reply = await caller.write(Client.pin_memory, arguments.id)
    return _of_memory("pinned" if reply["changed"] else "it is pinned already", reply["memory"], reply["changes"])


async def memory_unpin(arguments: MemoryArguments, caller: ToolCaller) -> WrittenAnswer:
    """Take the pin of a memory away."""
    reply = await caller.write(Client.unpin_memory, arguments.id)
    return _of_memory("unpinned" if reply["changed"] else "it is not pinned", reply["memory"], reply["changes"])


async def memory_replace(arguments: ReplaceArguments, caller: ToolCaller) -> WrittenAnswer:
    """Write what holds now in the place of a memory, as from the agent."""
    reply = await caller.write(Client.replace_memory, arguments.id, arguments.text, by_agent=True)
    done = f"replaced {reply['replaced'][:ID_PREFIX_CHARS]}" if reply["changed"] else "it says so already"
    return _of_memory(done, reply["memory"], reply["changes"], run=reply["run"], notes=reply["notes"])


async def memory_delete(arguments: MemoryArguments, caller: ToolCaller) -> WrittenAnswer:
    """Take the lines of a memory out."""
    reply = await caller.write(Client.delete_memory, arguments.id)
    return _written("deleted", reply["changes"], reply["run"], id=reply["id"], notes=reply["lines"] or None)


def _of_memory(
    done: str,
    memory: MemoryDocumentReply,
    changes: Sequence[int | None],
    *,
    run: str | None = None,
    notes: list[str] | None = None,
    created: bool | None = None,
) -> WrittenAnswer:
    return _written(
        done, changes, run, id=memory["id"], citation=memory["citation"], created=created, notes=notes or None
    )


def _written(done: str, changes: Sequence[int | None], run: str | None = None, **what: Any) -> WrittenAnswer:
    """Return what was done, and the command that takes it back: the last change first, and a run all of its own."""
    numbers = [number for number in changes if number is not None]
    undo = f"memoryctl undo --run {run}" if run else " && ".join(f"memoryctl undo {one}" for one in numbers[::-1])
    return WrittenAnswer(done=done, changes=numbers or None, undo=undo or None, **what)


async def core_add(arguments: CoreAddArguments, caller: ToolCaller) -> WrittenAnswer:
    """Add lines to the core file."""
    return await core_edit(CoreEditArguments(**arguments.model_dump()), caller)


async def core_edit(arguments: CoreEditArguments, caller: ToolCaller) -> WrittenAnswer:
    """Add lines to the core file, or put a text in the place of another."""
    _check(arguments)
    text, after, old, expected = arguments.text, arguments.after or "", arguments.old or "", arguments.expected
    match arguments.action:
        case "append":
            reply = await caller.write(Client.core_append, text, expected=expected)
        case "insert":
            reply = await caller.write(Client.core_insert, text, after=after, expected=expected)
        case "replace":
            reply = await caller.write(Client.core_replace, old, text, expected=expected)
    done = "written" if reply["changed"] else "nothing to write, it reads so already"
    return _written(done, [reply["change"]], path=reply["path"], notes=reply["notes"] or None)


def _check(arguments: CoreEditArguments) -> None:
    needed = _NEEDS[arguments.action]
    for name in ("after", "old"):
        if (name in needed) != (getattr(arguments, name) is not None):
            verb = "needs" if name in needed else "takes no"
            raise InvalidRequest(f"{arguments.action} {verb} {name!r}")
    if not arguments.text and arguments.action != "replace":
        raise InvalidRequest(f"{arguments.action} needs a text")
