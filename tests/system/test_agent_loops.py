"""The agents of docs/how-to/agents.md, run unchanged against a scripted model server and the real daemon."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.daemon import RunningDaemon, indexed_daemon, write_workspace
from tests.sweeps import swept

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "agents.md"
BLOCK = re.compile(r"^```py\n(.*?)^```", re.MULTILINE | re.DOTALL)
ANSWER = "Error GW-4172 means that a second process holds the lease of the gateway, as your log of 6 October says."


@dataclass
class ScriptedModel:
    """A server that gives the same answer to every request, and records the requests."""

    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.requests.append((path, body))
        if path.endswith("/chat/completions"):
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}
            return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        if path.endswith("/messages"):
            said = [{"type": "text", "text": ANSWER}]
            usage = {"input_tokens": 1, "output_tokens": 1}
            return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": said,
                    "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}  # fmt: skip
        content = {"role": "model", "parts": [{"text": ANSWER}]}
        return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}


@pytest.fixture
def model() -> Iterator[tuple[ScriptedModel, str]]:
    """Return a scripted model and its address."""
    scripted = ScriptedModel()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            data = json.dumps(scripted.answer(self.path.partition("?")[0], body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield scripted, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("loops")
    workspace = write_workspace(home / "ws")
    with indexed_daemon(home, workspace) as running:
        yield running


def agent_program(encoding: str) -> str:
    [found] = [block for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")) if f'encode="{encoding}"' in block]
    return str(found)


def split_bundle(text: str) -> list[str]:
    """Return the stable block of a bundle, and what was recalled for the question."""
    stable, end, tail = text.partition("</core-memory>\n")
    return [stable + end, tail]


def memory_texts(encoding: str, body: dict[str, Any]) -> list[str]:
    """Return the texts before the conversation, first the rules; validate them with the types of the client library.

    Each library takes a second to load, so import only the one that is needed.
    """
    if encoding == "text":
        rules, _, bundle = str(body["prompt"]).partition("\n\n")
        assert bundle.endswith("\nUser: what does GW-4172 mean?\nCompanion:")
        return [rules, *split_bundle(bundle)]
    if encoding == "rsclaw":
        rules, _ = body["messages"]
        return [rules["content"], *split_bundle(body["rsclaw_hidden"]["recall_context"])]
    if encoding == "openai":
        rules, bundle, _ = body["messages"]
        from openai.types.chat import ChatCompletionContentPartTextParam

        parts = TypeAdapter(list[ChatCompletionContentPartTextParam]).validate_python(bundle["content"])
        return [rules["content"], *(part["text"] for part in parts)]
    if encoding == "anthropic":
        from anthropic.types import TextBlockParam

        blocks = TypeAdapter(list[TextBlockParam]).validate_python(body["system"])
        assert [("cache_control" in block) for block in blocks] == [False, True, False]
        return [block["text"] for block in blocks]
    from google.genai.types import Content

    content = Content.model_validate(body["systemInstruction"])
    return [part.text or "" for part in content.parts or []]


PROMPT_PROGRAM = """\
import json, sys, urllib.request
data = json.dumps({"prompt": sys.stdin.read()}).encode()
reply = urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "/chat/completions", data))
print(json.load(reply)["choices"][0]["message"]["content"])
"""
"""A program that reads a prompt and writes an answer."""


@swept("encoding", ["openai", "anthropic", "gemini", "rsclaw", "text"], 2)
def test_documented_agent_recalls_and_stores_the_answer(
    encoding: str, daemon: RunningDaemon, model: tuple[ScriptedModel, str], tmp_path: Path
) -> None:
    scripted, address = model
    text = agent_program(encoding).replace("agent:main:main", f"agent:main:{encoding}:direct:me")
    assert len(text.splitlines()) <= 30
    (tmp_path / "agent.py").write_text(text)
    environment = {
        **daemon.env,
        "PYTHONPATH": str(ROOT),
        "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{address}/v1",
        "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": address,
        "RSCLAW_TOKEN": "k", "RSCLAW_URL": f"{address}/v1/chat/completions",
        "GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": address,
    }  # fmt: skip
    result = subprocess.run(
        [sys.executable, str(tmp_path / "agent.py"), sys.executable, "-c", PROMPT_PROGRAM, address],
        input=f"what does GW-4172 mean?\n/remember the {encoding} ferry leaves at seven\n",
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0] == ANSWER
    assert result.stdout.splitlines()[1].startswith("Remembered")
    [(_, body)] = scripted.requests
    rules, stable, tail = memory_texts(encoding, body)
    assert rules == "You are a helpful companion."
    assert "called alder" in stable
    assert "a second process holds the lease" in tail
    sessions = [row for row in daemon.client().qa_sessions()["sessions"] if f":{encoding}:" in str(row["key"])]
    [turn] = daemon.client().qa_session(sessions[0]["session"])["sequence"]
    assert turn["q"] == "what does GW-4172 mean?"
    assert turn["significance"] > 0, "its answer is stored or held"
