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
        api = self.api
        call = api.call(inputs, side)
        try:
            return await self.endpoint.ask(
                "POST",
                self.endpoint.url(call.path),
                lane,
                partial(_rows, api, len(inputs)),
                json_body=call.body,
                texts=[item.text for item in inputs],
                attempts=attempts,
            )
        except CallError as error:
            if error.kind is not Kind.MISSING or api.older is None or _names_model(error):
                raise
            self.api = api.older
        return [row for one in inputs for row in await self.rows([one], side, lane, attempts=attempts)]


def _names_model(error: CallError) -> bool:
    # Ollama answers 404 in both cases: with words for a model it has not, without for a path it does not know
    return "model" in error.reason.lower()


def _rows(api: Api, count: int, body: bytes) -> list[Row]:
    return api.rows(decode_json(body), count)
