"""`POST /v1/turns`: the one call that an agent makes for each message."""

from datetime import timedelta

from memoryd.agents.turns.log import CommandOutcome, NewMessage, TurnOutcome, TurnPart
from memoryd.api.dependencies import Asking, Memories
from memoryd.api.qa import turn_reply
from memoryd.api.recall import bundled
from memoryd.api.turn_models import TurnCommandReply, TurnEventRequest, TurnPartReply, TurnReply, TurnRequest
from memoryd.domain.memories.bundle import Encoding
from memoryd.domain.sessions.turns import MessageEvent, MessageEventType, MessageRole


async def take(request: TurnRequest, caller: Asking, memories: Memories) -> TurnReply:
    """Carry out the command that a message is, keep it, and answer with what is recalled and what was said before."""
    admitted = caller.admit(request.agent, request.session_key)
    outcome = await memories.turns(admitted).take(_message(request, caller), admitted, caller.key(request.session_key))
    return _encoded(outcome, request.encode)


def _message(request: TurnRequest, caller: Asking) -> NewMessage:
    return NewMessage(
        role=MessageRole(request.role),
        text=request.text,
        at=request.at,
        channel=request.channel or "",
        event=None if request.event is None else _event(request.event),
        k=request.k,
        budget=request.budget,
        if_none_match=request.if_none_match or "",
        is_owners=caller.binding.is_owners,
        deadline=None if request.deadline_ms is None else timedelta(milliseconds=request.deadline_ms),
    )


def _event(event: TurnEventRequest) -> MessageEvent:
    return MessageEvent(MessageEventType(event.type), event.text, event.tool)


def _encoded(outcome: TurnOutcome, encoding: Encoding) -> TurnReply:
    logged, context = outcome.logged, outcome.context
    reply = TurnReply(
        command=None if outcome.command is None else _command(outcome.command),
        session=logged.session,
        seq=logged.seq,
        remembered=logged.seq is not None,
        bundle=None,
        etag=None,
        not_modified=False,
        receipt=[],
        tokens=0,
        context=context.text,
        sequence=[turn_reply(context.session, turn) for turn in context.turns] if context.session else [],
        verdict=outcome.verdict,
        health={name: _part(part) for name, part in outcome.parts.items()},
        capture=outcome.capture,
        took_ms=round(outcome.took_ms, 2),
    )
    return reply if outcome.bundle is None else reply.model_copy(update=bundled(outcome.bundle, encoding))


def _command(done: CommandOutcome) -> TurnCommandReply:
    return TurnCommandReply(name=done.name.value, text=done.text, memories=list(done.memories))


def _part(part: TurnPart) -> TurnPartReply:
    return TurnPartReply(state=part.state.value, reason=part.reason or None)
