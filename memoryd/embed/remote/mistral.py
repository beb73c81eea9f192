"""Mistral's embeddings call.

POST /embeddings {"model", "input": […], "output_dimension"?} → {"data": [{"index", "embedding"}]}
"""

from collections.abc import Mapping, Sequence

from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.api import Api, Call, Input, RawVector, bearer, indexed_rows
from memoryd.embed.remote.prompts import PromptTemplates


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
