"""The route that reads documents, over one workspace in this process."""

import threading
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from memoryd.api.access import AccessPolicy
from memoryd.api.application import Application
from memoryd.api.http.sockets import OWNER, Peer
from memoryd.domain.access import AccessRules
from memoryd.files.scanner import ScanRoot
from tests.integration.composed import composed
from tests.integration.serving import services


async def test_roots_are_listed_outside_the_event_loop(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    async with composed(tmp_path, workspace, {"command": "/nonexistent"}) as running:
        look = running.memory.files.index.rules.roots

        def roots() -> Sequence[ScanRoot]:
            threads.append(threading.current_thread())
            return look()

        monkeypatch.setattr(running.memory.files.index.rules, "roots", roots)
        gate = AccessPolicy(rules=AccessRules(), agents=["main"], bindings={})
        app = Application(services(gate=gate, memories=[running.memory]))

        async def on_owners_socket(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, "state": {"peer": Peer(uid=0, pid=0, socket=OWNER)}}, receive, send)

        transport = httpx.ASGITransport(on_owners_socket)
        async with httpx.AsyncClient(transport=transport, base_url="http://memoryd") as client:
            reply = await client.get("/v1/files/MEMORY.md")
    assert "gateway" in reply.json()["text"]
    assert threads
    assert threading.main_thread() not in threads
