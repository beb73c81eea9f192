"""Tools that write: each change is one of the journal, told with its number, and can be taken back."""

from memoryd.errors import InvalidRequest
from memoryd.mcp.tool_answers import WrittenAnswer
from memoryd.mcp.tool_arguments import CoreAddArguments, CoreEditArguments
from memoryd.mcp.tool_caller import ToolCaller
from memoryd.replies.core import CoreEditReply

_NEEDS = {"append": (), "insert": ("after",), "replace": ("old",)}
"""What an edit needs beside its text."""


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
    change = reply["change"]
    return WrittenAnswer(
        done="written" if reply["changed"] else "nothing to write, it reads so already",
        path=reply["path"],
        changes=None if change is None else [change],
        undo=None if change is None else f"memoryctl undo {change}",
        notes=reply["notes"] or None,
    )
