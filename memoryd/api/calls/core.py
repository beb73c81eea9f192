"""`/v1/core`: the small file that every session sees."""

from typing import Annotated, Final

from pydantic import Field

from memoryd.agents.retained.core import AgentCore
from memoryd.api.access import AdmittedByQuery, Asking, Memories
from memoryd.api.call import call
from memoryd.api.models import AgentId, Request
from memoryd.domain.access import Who
from memoryd.replies.changes import CoreEditReply, CoreReply
from memoryd.wire import CORE_CHARS_MAX

CoreText = Annotated[str, Field(max_length=CORE_CHARS_MAX)]
SeenHash = Annotated[str, Field(max_length=64)]


class CoreRequest(Request):
    """What every edit may say."""

    expected: SeenHash | None = None
    """The beginning of the hash of the file that was seen, eight signs at least: else nothing is written."""
    session_key: Annotated[str, Field(max_length=512)] | None = None
    """The session that asks; null: no session."""
    agent: AgentId = None


class CoreAppendRequest(CoreRequest):
    """Lines for the end of the core file."""

    text: CoreText
    """The lines."""


class CoreReplaceRequest(CoreRequest):
    """A text of the core file, and what is to stand in its place."""

    old: CoreText
    """What stands there once."""
    new: CoreText
    """What is to stand there; empty: nothing."""


class CoreInsertRequest(CoreRequest):
    """Lines for a place in the core file."""

    text: CoreText
    """The lines."""
    after: CoreText
    """The line below which they go, such as a heading; it stands there once."""


async def show(admitted: AdmittedByQuery, memories: Memories) -> CoreReply:
    """Show the core file, and `SOUL.md` beside it."""
    return await memories.retained(admitted).core.show()


async def append(request: CoreAppendRequest, caller: Asking, memories: Memories) -> CoreEditReply:
    """Add lines at the end of the core file."""
    return await _core(request, caller, memories).append(request.text, expected=request.expected or "")


async def replace(request: CoreReplaceRequest, caller: Asking, memories: Memories) -> CoreEditReply:
    """Put a text in the place of one that stands in the core file once."""
    return await _core(request, caller, memories).replace(request.old, request.new, expected=request.expected or "")


async def insert(request: CoreInsertRequest, caller: Asking, memories: Memories) -> CoreEditReply:
    """Add lines below a line of the core file."""
    core = _core(request, caller, memories)
    return await core.insert(request.text, after=request.after, expected=request.expected or "")


def _core(request: CoreRequest, caller: Asking, memories: Memories) -> AgentCore:
    admitted = caller.admit(request.agent, request.session_key)
    core = memories.retained(admitted).core
    core.rights.check_file(is_owner=admitted.is_owner)
    return core


CALLS: Final = (
    call("GET", "/core", Who.OWNER, show),
    call("POST", "/core/append", Who.OWNER, append),
    call("POST", "/core/replace", Who.OWNER, replace),
    call("POST", "/core/insert", Who.OWNER, insert),
)
