"""`/v1/core`: the small file that every session sees."""

from memoryd.agents.retained.core import AgentCore, EditedCore
from memoryd.api.core_models import (
    CoreAppendRequest,
    CoreEditReply,
    CoreInsertRequest,
    CoreReplaceRequest,
    CoreReply,
    CoreRequest,
)
from memoryd.api.dependencies import AdmittedByQuery, Asking, Memories


async def show(admitted: AdmittedByQuery, memories: Memories) -> CoreReply:
    """Show the core file, and `SOUL.md` beside it."""
    found = await memories.retained(admitted).core.show()
    return CoreReply(
        path=found.core.path,
        text=found.core.text,
        sha256=found.core.sha256,
        chars=len(found.core.text),
        max_chars=found.max_chars,
        soul=found.persona,
    )


async def append(request: CoreAppendRequest, caller: Asking, memories: Memories) -> CoreEditReply:
    """Add lines at the end of the core file."""
    core = _core(request, caller, memories)
    return _edited(await core.append(request.text, expected=request.expected or ""))


async def replace(request: CoreReplaceRequest, caller: Asking, memories: Memories) -> CoreEditReply:
    """Put a text in the place of one that stands in the core file once."""
    core = _core(request, caller, memories)
    return _edited(await core.replace(request.old, request.new, expected=request.expected or ""))


async def insert(request: CoreInsertRequest, caller: Asking, memories: Memories) -> CoreEditReply:
    """Add lines below a line of the core file."""
    core = _core(request, caller, memories)
    return _edited(await core.insert(request.text, after=request.after, expected=request.expected or ""))


def _core(request: CoreRequest, caller: Asking, memories: Memories) -> AgentCore:
    admitted = caller.admit(request.agent, request.session_key)
    core = memories.retained(admitted).core
    core.rights.check_file(is_owner=admitted.is_owner)
    return core


def _edited(found: EditedCore) -> CoreEditReply:
    return CoreEditReply(
        path=found.change.path,
        sha256=found.change.sha256,
        chars=len(found.change.text),
        max_chars=found.max_chars,
        changed=found.change.is_written,
        change=found.change.id or None,
        notes=list(found.notes),
    )
