"""A real HTTP server on loopback that speaks OpenAI's chat completions, and misbehaves on request.

The shapes of requests, answers and errors are written from the API reference of chat completions.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.contract.embedding_server import DIALECTS, Asked, Dialect, EmbeddingServer, Reply

PATH = "/v1/chat/completions"
CHAT = Dialect(
    "openai",
    lambda body: [message["content"] for message in body["messages"]],
    lambda _rows: {},
    DIALECTS["openai"].error,
    "authorization",
    (PATH,),
)


@dataclass
class ChatServer(EmbeddingServer):
    """Answers each question with the smallest answer of its schema, unless `content` or `script` says otherwise."""

    dialect: Dialect = field(default_factory=lambda: CHAT)
    content: str | None = None
    finish: str = "stop"

    def ordinary(self, request: Asked) -> Reply:
        if request.path != PATH:
            return Reply(404, b"404 page not found", {"Content-Type": "text/plain"})
        if self.content is not None:
            return self.said(self.content)
        return self.said(json.dumps(smallest(schema_in(request.body))))

    def said(self, content: object, **message: object) -> Reply:
        text = {"role": "assistant", "content": content, "refusal": None} | message
        choice = {"index": 0, "message": text, "logprobs": None, "finish_reason": self.finish}
        return Reply(200, {"id": "c-1", "object": "chat.completion", "model": "m", "choices": [choice]})


def schema_in(body: Any) -> Any:
    """Return the schema of a request, from its field or from the system message."""
    form = body["response_format"]
    if form["type"] == "json_schema":
        return form["json_schema"]["schema"]
    return json.loads(body["messages"][0]["content"].rpartition("JSON schema: ")[2])


def smallest(schema: Any, root: Any = None) -> Any:
    """Return a small value of the schema."""
    root = schema if root is None else root
    match schema:
        case {"$ref": str(place)}:
            return smallest(root["$defs"][place.rpartition("/")[2]], root)
        case {"enum": [first, *_]} | {"const": first}:
            return first
        case {"type": "object"}:
            return {name: smallest(below, root) for name, below in schema["properties"].items()}
        case {"type": "array"}:
            return [smallest(schema["items"], root)] * schema.get("minItems", 0)
    return {"string": "a", "integer": 1, "number": 1.0, "boolean": True}[schema["type"]]
