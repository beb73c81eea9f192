"""The route that reads documents, over one workspace in this process."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import httpx
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from memoryd.agents.served import AgentTable
from memoryd.api import files, problems
from memoryd.api.access import Gate
from memoryd.api.http.sockets import OWNER, Peer
from memoryd.config.limits import LimitsSection
from memoryd.domain.access import AccessRules
from memoryd.files.scanner import ScanRoot
from tests.integration.composed import composed


async def test_folders_are_looked_for_beside_the_loop(tmp_path: Path, workspace: Path) -> None:
    threads: list[threading.Thread] = []
    async with composed(tmp_path, workspace, {"command": "/nonexistent"}) as running:

        def roots() -> Sequence[ScanRoot]:
            threads.append(threading.current_thread())
            return running.served.roots()

        app, gate = FastAPI(), Gate(rules=AccessRules(), agents=["main"], bindings={})
        problems.install(app)
        app.include_router(files.router(AgentTable([replace(running.served, roots=roots)]), gate, LimitsSection()))

        async def on_owners_socket(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, "state": {"peer": Peer(uid=0, pid=0, socket=OWNER)}}, receive, send)

        transport = httpx.ASGITransport(on_owners_socket)
        async with httpx.AsyncClient(transport=transport, base_url="http://memoryd") as client:
            reply = await client.get("/v1/files/MEMORY.md")
    assert "gateway" in reply.json()["text"]
    assert threads
    assert threading.main_thread() not in threads
