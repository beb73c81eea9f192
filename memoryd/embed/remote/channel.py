"""One provider's format over one endpoint: texts in, rows of numbers out."""

from collections.abc import Sequence
from functools import partial

from memoryd.embed.remote.api import Api, Input, Row
from memoryd.embed.remote.failures import CallError, Kind
from memoryd.embed.remote.gate import Lane
from memoryd.embed.remote.http import Endpoint, decode_json
from memoryd.embed.remote.prompts import Side


class Channel:
    """Speaks the provider's older format once the address of the newer one turned out to be unknown."""

    def __init__(self, endpoint: Endpoint, api: Api) -> None:
        self.endpoint = endpoint
        self.api = api

    async def rows(self, inputs: Sequence[Input], side: Side, lane: Lane, *, attempts: int | None = None) -> list[Row]:
        """One row a text, in order; raises CallError. `inputs` are no more than `api.items`."""
        try:
            return await self._rows(self.api, inputs, side, lane, attempts)
        except CallError as error:
            older = self.api.older
            if error.kind is not Kind.MISSING or older is None or _names_model(error):
                raise
        rows = [row for one in inputs for row in await self._rows(older, [one], side, lane, attempts)]
        self.api = older
        return rows

    async def _rows(self, api: Api, inputs: Sequence[Input], side: Side, lane: Lane, attempts: int | None) -> list[Row]:
        call = api.call(inputs, side)
        return await self.endpoint.ask(
            "POST",
            self.endpoint.url(call.path),
            lane,
            partial(_decoded, api, len(inputs)),
            json_body=call.body,
            texts=[item.text for item in inputs],
            attempts=attempts,
        )


def _names_model(error: CallError) -> bool:
    # Ollama answers 404 in both cases: with words for a model it has not, without for a path it does not know
    return "model" in error.reason.lower()


def _decoded(api: Api, count: int, body: bytes) -> list[Row]:
    return api.rows(decode_json(body), count)
