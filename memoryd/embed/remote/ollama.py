"""Ollama's embedding calls: /api/embed, and /api/embeddings of releases before 0.3.

POST /api/embed {"model", "input": […], "truncate", "dimensions"?} → {"embeddings": [[…], …]}
POST /api/embeddings {"model", "prompt"} → {"embedding": […]}
"""

from collections.abc import Mapping, Sequence
from typing import Final

from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.api import Api, Call, Input, RawVector, bearer, list_rows
from memoryd.embed.remote.prompts import PromptTemplates

TAILS: Final = ("/api/embeddings", "/api/embed", "/api", "/v1")
"""Ends of an address that people copy along."""


class OllamaApi:
    """Puts no prompt before a text, so the model's own are applied here; cuts a text that is too long."""

    def __init__(
        self, *, base_url: str, model: str, key: str, dimensions: int | None, prompts: PromptTemplates, items: int
    ) -> None:
        self.base_url = _root(base_url)
        self.auth: Mapping[str, str] = bearer(key)
        self.prompts = prompts
        self.items = items
        self.older: Api | None = OlderOllamaApi(self.base_url, model, key, prompts)
        self._fixed: dict[str, object] = {"model": model, "truncate": True}
        if dimensions is not None:
            self._fixed["dimensions"] = dimensions

    def call(self, inputs: Sequence[Input], purpose: Purpose) -> Call:
        """Return one request for all texts."""
        return Call("/api/embed", self._fixed | {"input": [item.text for item in inputs]})

    def rows(self, answer: object, count: int) -> list[RawVector]:
        """Return the vectors in the order of the texts."""
        return list_rows(answer.get("embeddings") if isinstance(answer, dict) else None, count)


class OlderOllamaApi:
    """One text a request."""

    def __init__(self, base_url: str, model: str, key: str, prompts: PromptTemplates) -> None:
        self.base_url = base_url
        self.auth: Mapping[str, str] = bearer(key)
        self.prompts = prompts
        self.items = 1
        self.older: Api | None = None
        self._model = model

    def call(self, inputs: Sequence[Input], purpose: Purpose) -> Call:
        """Return the request for the only text."""
        (only,) = inputs
        return Call("/api/embeddings", {"model": self._model, "prompt": only.text})

    def rows(self, answer: object, count: int) -> list[RawVector]:
        """Return the only vector."""
        embedding = answer.get("embedding") if isinstance(answer, dict) else None
        return list_rows([embedding], count)


def _root(base_url: str) -> str:
    for tail in TAILS:
        base_url = base_url.removesuffix(tail)
    return base_url
