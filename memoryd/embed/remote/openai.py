"""OpenAI's embeddings call, which most servers of open models speak, too.

POST /embeddings {"model", "input": […], "dimensions"?} → {"data": [{"index", "embedding"}]}
"""

from collections.abc import Mapping, Sequence

from memoryd.embed.remote.api import Api, Call, Input, Row, bearer, indexed_rows
from memoryd.embed.remote.prompts import Manners, Side


class OpenAiApi:
    """`manners` carry an input type only if one is configured; it is sent as `input_type`."""

    def __init__(
        self, *, base_url: str, model: str, key: str, dimensions: int | None, manners: Manners, items: int
    ) -> None:
        self.base_url = base_url.removesuffix("/embeddings")
        self.auth: Mapping[str, str] = bearer(key)
        self.manners = manners
        self.items = items
        self.older: Api | None = None
        self._fixed: dict[str, object] = {"model": model}
        if dimensions is not None:
            self._fixed["dimensions"] = dimensions

    def call(self, inputs: Sequence[Input], side: Side) -> Call:
        """One request for all texts."""
        body = self._fixed | {"input": [item.text for item in inputs]}
        input_type = self.manners.of(side).input_type
        return Call("/embeddings", body | {"input_type": input_type} if input_type else body)

    def rows(self, answer: object, count: int) -> list[Row]:
        """The vectors in the order of the texts."""
        return indexed_rows(answer, count)
