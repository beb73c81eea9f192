"""`GET /v1/files/{path}`: lines of an indexed document."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query

from memoryd.api.agents import AgentTable
from memoryd.api.models import FileReply
from memoryd.errors import NotFound
from memoryd.search.reading import DEFAULT_LINES, MAX_LINES, Excerpt, read_lines
from memoryd.store.files import is_indexed
from memoryd.wire import API


def router(agents: AgentTable) -> APIRouter:
    """The reading route over these agents."""
    routes = APIRouter()

    @routes.get(f"{API}/files/{{path:path}}")
    async def get_file(
        path: str,
        agent: Annotated[str | None, Query(max_length=64)] = None,
        session_key: Annotated[str | None, Query(alias="sessionKey", max_length=512)] = None,
        from_: Annotated[int, Query(alias="from", ge=1, le=2**31)] = 1,
        lines: Annotated[int, Query(ge=1, le=MAX_LINES)] = DEFAULT_LINES,
    ) -> FileReply:
        """Read lines of a document; only what is indexed can be read."""
        served = agents.enabled(agent)
        if not await served.database.read(lambda db: is_indexed(db, path)):
            raise NotFound(f"no document {path!r} is indexed", hint="paths are relative to the workspace")
        excerpt = await asyncio.to_thread(
            read_lines,
            path,
            workspace=served.agent.workspace,
            roots=served.roots(),
            first=from_,
            count=lines,
            follow_symlinks=served.agent.memory_search.follow_symlinks,
        )
        return _reply(excerpt)

    return routes


def _reply(excerpt: Excerpt) -> FileReply:
    return FileReply(
        path=excerpt.path,
        text=excerpt.text,
        from_=excerpt.first,
        lines=excerpt.lines,
        total_lines=excerpt.total_lines,
        sha256=excerpt.sha256,
        truncated=excerpt.is_truncated,
        next_from=excerpt.next_first,
    )
