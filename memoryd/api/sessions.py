"""`POST /v1/sessions/start`: an agent says that a session begins."""

from memoryd.api.dependencies import Asking, Memories
from memoryd.api.models import SessionStartReply, SessionStartRequest


async def start(request: SessionStartRequest, caller: Asking, memories: Memories) -> SessionStartReply:
    """Begin a session: with `sync.onSessionStart` the index looks at the disk now, in the background."""
    admitted = caller.admit(request.agent, request.session_key)
    return SessionStartReply(is_sync_scheduled=memories.start_session(admitted))
