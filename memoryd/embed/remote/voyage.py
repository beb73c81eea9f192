"""Voyage's embeddings call.

POST /embeddings {"model", "input": […], "input_type", "truncation", "output_dimension"?}
→ {"data": [{"index", "embedding"}]}
"""

from collections.abc import Mapping, Sequence
from typing import Final

from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.api import Api, Call, Input, RawVector, bearer, indexed_rows
from memoryd.embed.remote.prompts import PromptTemplate, PromptTemplates

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
