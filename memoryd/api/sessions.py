"""`POST /v1/sessions/start`: an agent says that a session begins."""

from memoryd.api.dependencies import Asking, Memories
from memoryd.api.qa import turn_reply
from memoryd.api.session_models import SessionStartReply, SessionStartRequest


async def start(request: SessionStartRequest, caller: Asking, memories: Memories) -> SessionStartReply:
    """Begin a session with what was said last; with `sync.onSessionStart` the index looks at the disk now."""
    admitted = caller.admit(request.agent, request.session_key)
    is_scheduled = memories.start_session(admitted)
    before = await memories.qa(admitted).start(caller.key(request.session_key))
    sequence = [turn_reply(before.session, turn) for turn in before.turns] if before.session else []
    return SessionStartReply(context=before.text, sequence=sequence, is_sync_scheduled=is_scheduled)
