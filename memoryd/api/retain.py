"""`POST /v1/retain`: state a memory, which is written into today's log."""

from memoryd.agents.retained.retaining import RetainOutcome
from memoryd.api.dependencies import Asking, Memories
from memoryd.api.retain_models import RetainedReply, RetainReply, RetainRequest
from memoryd.domain.citations import Citation
from memoryd.domain.memories.edits import REMEMBERED_IMPORTANCE, StatedText
from memoryd.domain.memories.kinds import Kind, kind_named, short_id
from memoryd.errors import InvalidRequest


async def retain(request: RetainRequest, caller: Asking, memories: Memories) -> RetainReply:
    """State a memory in today's log; the same again is not written twice."""
    admitted = caller.admit(request.agent, request.session_key)
    said = StatedText(
        text=request.text,
        kind=kind_of(request.kind),
        usual_kind=Kind.NOTE if request.remember else Kind.WORLD,
        importance=request.importance,
        usual_importance=REMEMBERED_IMPORTANCE if request.remember else None,
        scope=request.scope or "",
        entities=tuple(request.entities or ()),
        at=request.at or "",
    )
    return _encoded(await memories.retained(admitted).retaining.retain(said, admitted, each=request.each))


def kind_of(name: str | None) -> Kind | None:
    """Return the kind that a request names, None if it names none; raises InvalidRequest for what is no kind."""
    if name is None:
        return None
    kind = kind_named(name)
    if kind is None:
        raise InvalidRequest(f"kind: there is none called {name!r}", hint=f"kinds: {', '.join(Kind)}; or W, B, O, S")
    return kind


def _encoded(outcome: RetainOutcome) -> RetainReply:
    found = outcome.retention
    rows = [
        RetainedReply(
            id=one.line.id,
            citation=str(Citation(found.path, one.start_line, one.end_line, short_id(one.line.id))),
            created=created,
            path=found.path,
            line=one.start_line,
        )
        for one, created in zip(found.placed, found.added, strict=True)
    ]
    return RetainReply(
        **rows[0].model_dump(),
        memories=rows,
        change=found.change.id or None,
        searchable=outcome.is_searchable,
        notes=list(outcome.notes),
    )
