"""Gemini's embedding calls.

POST /models/{model}:batchEmbedContents {"requests": [{"model", "content": {"parts": […]}, "taskType", …}]}
→ {"embeddings": [{"values": […]}]}

gemini-embedding-2 reads the task from the prompt and, as its guide says, not from `taskType`; both are sent, since a
preview may change. Its prompts are those of the guide.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Final

from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.api import Api, Call, Input, RawVector, list_rows
from memoryd.embed.remote.catalogue import GEMINI_2
from memoryd.embed.remote.prompts import PromptTemplate, PromptTemplates

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
