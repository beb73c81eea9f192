"""A sandbox's socket cannot make the daemon send notes or spend tokens against its owner's settings."""

from pathlib import Path

import pytest

from memoryd.client import Client
from memoryd.errors import Denied
from tests.daemon import RunningDaemon
from tests.embedding_endpoint import Endpoint
from tests.system.agents import daemon_of_agents, socket_of, with_socket
from tests.waiting import eventually

GROUP = "agent:main:discord:group:7"


def daemon_with_sandbox(home: Path, workspace: Path, endpoint: Endpoint, *, is_paused: bool) -> RunningDaemon:
    """Return a daemon, not started, with the socket of a sandbox whose session has no access."""
    search = {
        "provider": "openai",
        "model": "test-model",
        "remote": {"baseUrl": endpoint.url, "apiKey": "sk-4711"},
        "sync": {"paused": is_paused},
    }
    return daemon_of_agents(home, [with_socket(home, "main", sessionKey=GROUP)], workspace, search=search)


def test_sandbox_cannot_embed_while_paused(tmp_path: Path, workspace: Path, endpoint: Endpoint) -> None:
    with (
        daemon_with_sandbox(tmp_path, workspace, endpoint, is_paused=True) as daemon,
        Client(socket_of(tmp_path, "main")) as sandbox,
    ):
        with pytest.raises(Denied):
            sandbox.search("gateway")
        pending = sandbox.sync("embedded", timeout_ms=60_000)
        assert not pending.get("complete")
        assert "memorySearch.sync.paused is true" in (pending.get("reason") or "")
        for force, embeddings in ((False, True), (True, False), (False, False)):
            with pytest.raises(Denied) as refused:
                sandbox.reindex(force=force, embeddings=embeddings)
            assert "sync" in refused.value.hint
        assert sandbox.sync("indexed").get("complete"), "indexing is allowed"
        eventually(lambda: daemon.agent()["pendingEmbeddings"])
        assert "gateway" not in "".join(endpoint.texts()), "no note was sent"
        assert daemon.client().sync("embedded").get("complete"), "the owner may"
        assert "gateway" in "".join(endpoint.texts())
        assert sandbox.sync("embedded").get("complete"), "nothing is pending any more"


def test_sandbox_cannot_embed_notes_again(tmp_path: Path, workspace: Path, endpoint: Endpoint) -> None:
    with (
        daemon_with_sandbox(tmp_path, workspace, endpoint, is_paused=False) as daemon,
        Client(socket_of(tmp_path, "main")) as sandbox,
    ):
        assert sandbox.sync("embedded").get("complete"), "waiting for embedding is allowed"
        before = len(endpoint.texts())
        with pytest.raises(Denied):
            sandbox.reindex(embeddings=True)
        daemon.client().sync("embedded")
        assert len(endpoint.texts()) == before
        daemon.client().reindex(embeddings=True)
        eventually(lambda: len(endpoint.texts()) > before)
