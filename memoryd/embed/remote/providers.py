"""What is known of each remote provider: address, default model, limits of a request. Documented in docs/how-to.

Sources: the providers' API references as of 2026. Limits with no number in a reference are those its error texts name
(Gemini: "at most 100 requests can be in one batch"; Mistral: "Too many inputs in request" above 256).

Gemini's embedding calls.

POST /models/{model}:batchEmbedContents {"requests": [{"model", "content": {"parts": […]}, "taskType", …}]}
→ {"embeddings": [{"values": […]}]}

gemini-embedding-2 reads the task from the prompt and, as its guide says, not from `taskType`; both are sent, since a
preview may change. Its prompts are those of the guide.

Mistral's embeddings call.

POST /embeddings {"model", "input": […], "output_dimension"?} → {"data": [{"index", "embedding"}]}

Ollama's embedding calls: /api/embed, and /api/embeddings of releases before 0.3.

POST /api/embed {"model", "input": […], "truncate", "dimensions"?} → {"embeddings": [[…], …]}
POST /api/embeddings {"model", "prompt"} → {"embedding": […]}

OpenAI's embeddings call, which most servers of open models speak, too.

POST /embeddings {"model", "input": […], "dimensions"?} → {"data": [{"index", "embedding"}]}

Voyage's embeddings call.

POST /embeddings {"model", "input": […], "input_type", "truncation", "output_dimension"?}
→ {"data": [{"index", "embedding"}]}
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from memoryd.domain import media
from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.api import (
    Api,
    Call,
    Input,
    PromptTemplate,
    PromptTemplates,
    RawVector,
    bearer,
    indexed_rows,
    list_rows,
)


class ProviderFacts(Struct, frozen=True):
    """`items` and `tokens` bound one request; `context` one text, in tokens (0: the provider cuts by itself)."""

    name: str
    base_url: str
    model: str
    items: int
    tokens: int
    context: int
    concurrency: int = 4
    needs_key: bool = True
    has_batches: bool = False


_FACTS: Final = (
    ProviderFacts(
        "openai", "https://api.openai.com/v1", "text-embedding-3-small", 2048, 300_000, 8192, has_batches=True
    ),
    ProviderFacts(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini-embedding-001",
        100,
        200_000,
        2048,
        has_batches=True,
    ),
    ProviderFacts("voyage", "https://api.voyageai.com/v1", "voyage-4-large", 1000, 120_000, 0, has_batches=True),
    ProviderFacts("mistral", "https://api.mistral.ai/v1", "mistral-embed", 256, 16_000, 8192),
    ProviderFacts(
        "ollama", "http://127.0.0.1:11434", "nomic-embed-text", 64, 32_000, 0, concurrency=1, needs_key=False
    ),
)
PROVIDERS: Final = {facts.name: facts for facts in _FACTS}

CONTEXTS: Final = {"gemini-embedding-2": 8192, "gemini-embedding-2-preview": 8192}
"""Tokens of models that take another number than their provider's default model."""

DIMENSIONS: Final = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "gemini-embedding-001": 3072,
    "gemini-embedding-2": 3072,
    "gemini-embedding-2-preview": 3072,
    "voyage-4-large": 1024,
    "mistral-embed": 1024,
    "nomic-embed-text": 768,
}
"""Dimensions when none are asked for. For people: what counts is what the endpoint answers to a first text."""

GEMINI_2: Final = media.MODELS
GEMINI_2_DIMENSIONS: Final = (768, 1536, 3072)

ESTIMATE_MARGIN: Final = 0.6
"""Share of a token limit that is used: token counts here are estimates."""
BUSY_ITEMS: Final = 128
"""More texts are not put into one request, whatever the provider allows: a failure then costs little."""


QUERY_TASK: Final = "RETRIEVAL_QUERY"
DOCUMENT_TASK: Final = "RETRIEVAL_DOCUMENT"


def own_prompts(model: str) -> PromptTemplates:
    """Return task types, and for the second generation the prompts."""
    if model in GEMINI_2:
        return PromptTemplates(
            PromptTemplate("task: search result | query: {text}", QUERY_TASK),
            PromptTemplate("title: {title} | text: {text}", DOCUMENT_TASK),
        )
    return PromptTemplates(PromptTemplate(input_type=QUERY_TASK), PromptTemplate(input_type=DOCUMENT_TASK))


def takes_title(model: str, document: PromptTemplate) -> bool:
    """Tell whether the title of a passage has a field of its own in the request."""
    return model not in GEMINI_2 and document.input_type == DOCUMENT_TASK


class GeminiApi:
    """`dimensions` are sent as `outputDimensionality`."""

    def __init__(
        self, *, base_url: str, model: str, key: str, dimensions: int | None, prompts: PromptTemplates, items: int
    ) -> None:
        self.base_url = base_url.removesuffix("/openai")
        self.auth: Mapping[str, str] = {"x-goog-api-key": key} if key else {}
        self.prompts = prompts
        self.items = items
        self.older: Api | None = None
        self.path = f"/models/{model}"
        self.takes_media = model in GEMINI_2
        self._takes_title = takes_title(model, prompts.document)
        self._dimensions = dimensions

    def call(self, inputs: Sequence[Input], purpose: Purpose) -> Call:
        """Return one request for all texts."""
        return Call(f"{self.path}:batchEmbedContents", {"requests": [self.request(item, purpose) for item in inputs]})

    def request(self, item: Input, purpose: Purpose) -> dict[str, object]:
        """Return one text's part of a request; a batch job takes the same."""
        request = self._request([{"text": item.text}], purpose)
        if item.title and purpose is Purpose.DOCUMENT and self._takes_title:
            request["title"] = item.title
        return request

    def media_call(self, data: bytes, mime: str, label: str) -> Call:
        """Return the request for one picture or sound, with the words that stand for it."""
        inline = {"mimeType": mime, "data": base64.b64encode(data).decode("ascii")}
        request = self._request([{"text": label}, {"inlineData": inline}], Purpose.DOCUMENT)
        return Call(f"{self.path}:batchEmbedContents", {"requests": [request]})

    def rows(self, answer: object, count: int) -> list[RawVector]:
        """Return the vectors in the order of the texts."""
        found = answer.get("embeddings") if isinstance(answer, dict) else None
        entries = found if isinstance(found, list) else []
        return list_rows([entry.get("values") if isinstance(entry, dict) else None for entry in entries], count)

    def _request(self, parts: list[object], purpose: Purpose) -> dict[str, object]:
        request: dict[str, object] = {"model": self.path.removeprefix("/"), "content": {"parts": parts}}
        task = self.prompts.of(purpose).input_type
        if task:
            request["taskType"] = task
        if self._dimensions is not None:
            request["outputDimensionality"] = self._dimensions
        return request


class MistralApi:
    """Knows no input types: questions and passages differ by prompt only, and Mistral's models want none."""

    def __init__(
        self, *, base_url: str, model: str, key: str, dimensions: int | None, prompts: PromptTemplates, items: int
    ) -> None:
        self.base_url = base_url.removesuffix("/embeddings")
        self.auth: Mapping[str, str] = bearer(key)
        self.prompts = prompts
        self.items = items
        self.older: Api | None = None
        self._fixed: dict[str, object] = {"model": model}
        if dimensions is not None:
            self._fixed["output_dimension"] = dimensions

    def call(self, inputs: Sequence[Input], purpose: Purpose) -> Call:
        """Return one request for all texts."""
        return Call("/embeddings", self._fixed | {"input": [item.text for item in inputs]})

    def rows(self, answer: object, count: int) -> list[RawVector]:
        """Return the vectors in the order of the texts."""
        return indexed_rows(answer, count)


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


class OpenAiApi:
    """`prompts` carry an input type only if one is configured; it is sent as `input_type`."""

    def __init__(
        self, *, base_url: str, model: str, key: str, dimensions: int | None, prompts: PromptTemplates, items: int
    ) -> None:
        self.base_url = base_url.removesuffix("/embeddings")
        self.auth: Mapping[str, str] = bearer(key)
        self.prompts = prompts
        self.items = items
        self.older: Api | None = None
        self._fixed: dict[str, object] = {"model": model}
        if dimensions is not None:
            self._fixed["dimensions"] = dimensions

    def call(self, inputs: Sequence[Input], purpose: Purpose) -> Call:
        """Return one request for all texts."""
        body = self._fixed | {"input": [item.text for item in inputs]}
        input_type = self.prompts.of(purpose).input_type
        return Call("/embeddings", body | {"input_type": input_type} if input_type else body)

    def rows(self, answer: object, count: int) -> list[RawVector]:
        """Return the vectors in the order of the texts."""
        return indexed_rows(answer, count)


OWN_PROMPTS: Final = PromptTemplates(PromptTemplate(input_type="query"), PromptTemplate(input_type="document"))
"""Voyage puts its prompts before the texts itself."""


class VoyageApi:
    """Voyage cuts a text that is too long for the model."""

    def __init__(
        self, *, base_url: str, model: str, key: str, dimensions: int | None, prompts: PromptTemplates, items: int
    ) -> None:
        self.base_url = base_url.removesuffix("/embeddings")
        self.auth: Mapping[str, str] = bearer(key)
        self.prompts = prompts
        self.items = items
        self.older: Api | None = None
        self.fixed: dict[str, object] = {"model": model, "truncation": True}
        if dimensions is not None:
            self.fixed["output_dimension"] = dimensions

    def call(self, inputs: Sequence[Input], purpose: Purpose) -> Call:
        """Return one request for all texts."""
        body = self.fixed | {"input": [item.text for item in inputs]}
        input_type = self.prompts.of(purpose).input_type
        return Call("/embeddings", body | {"input_type": input_type} if input_type else body)

    def rows(self, answer: object, count: int) -> list[RawVector]:
        """Return the vectors in the order of the texts."""
        return indexed_rows(answer, count)
