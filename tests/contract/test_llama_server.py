"""Embedding with a real OpenAI-compatible server: that of llama-cpp-python, with the starter model."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from memoryd.embed.protocol import Passage, Unembeddable
from memoryd.embed.remote.embedder import RemoteEmbedder
from memoryd.embed.remote.settings import CallTimeouts
from memoryd.errors import EmbedderUnavailable
from tests.contract.embedding_server import opened_at
from tests.waiting import SECONDS

NEEDED = ("llama_cpp", "fastapi", "sse_starlette", "starlette_context", "pydantic_settings")
MISSING = [name for name in NEEDED if find_spec(name) is None]
KEY = "sk-local"
PATIENT = CallTimeouts(query=timedelta(seconds=30), bulk=timedelta(seconds=60), hold=timedelta(seconds=1))

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"the server of llama-cpp-python needs {', '.join(MISSING)}")


@pytest.fixture(scope="module")
def server(starter_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the server and yield its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--model", str(starter_model), "--embedding", "true", "--n_threads", "1", "--n_threads_batch", "1"]
    options += ["--n_ctx", "512", "--n_batch", "512", "--port", str(port), "--api_key", KEY, "--verbose", "false"]
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("wb") as output:
        command = [sys.executable, "-m", "llama_cpp.server", *options]
        environment = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
        child = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            child.terminate()
            child.wait(timeout=SECONDS)


async def opened(server: str, key: str = KEY) -> RemoteEmbedder:
    return await opened_at("openai", server, api_key=key, model="all-MiniLM-L6-v2", timeouts=PATIENT)


async def test_notes_are_found_by_meaning_with_a_foreign_server(server: str) -> None:
    embedder = None
    async with asyncio.timeout(60):
        while embedder is None:
            try:
                embedder = await opened(server)
            except EmbedderUnavailable:  # it is still loading the model
                await asyncio.sleep(0.2)
    try:
        assert embedder.identity.dimensions == 384
        notes = [
            "Henrik Solbu, plumber, mended the leak under the boiler.",
            "The bicycle needs a new chain.",
            "今天下雨。",
        ]
        vectors = await embedder.embed_documents([Passage(note) for note in notes])
        question = await embedder.embed_query("Who repaired our heating?")
    finally:
        await embedder.aclose()
    scores = [float(question @ vector) for vector in vectors if not isinstance(vector, Unembeddable)]
    assert int(np.argmax(scores)) == 0
    assert len(scores) == 3
    with pytest.raises(EmbedderUnavailable, match="401") as caught:
        await opened(server, "sk-wrong-key-of-somebody")
    assert "sk-wrong" not in str(caught.value)
