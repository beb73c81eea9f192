"""OpenAI's embeddings call, which most servers of open models speak, too.

POST /embeddings {"model", "input": […], "dimensions"?} → {"data": [{"index", "embedding"}]}
"""

from collections.abc import Mapping, Sequence

from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.api import Api, Call, Input, RawVector, bearer, indexed_rows
from memoryd.embed.remote.prompts import PromptTemplates


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
