"""One provider's format over one endpoint: texts in, rows of numbers out."""

from collections.abc import Sequence
from functools import partial

from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.api import Api, Input, RawVector
from memoryd.embed.remote.failures import CallError, FailureKind
from memoryd.embed.remote.http import Endpoint, decode_json


class Channel:
    """Speaks the provider's older format once the address of the newer one turned out to be unknown."""

    def __init__(self, endpoint: Endpoint, api: Api) -> None:
        self.endpoint = endpoint
        self.api = api
        self.dimensions: int | None = None
        """What every answer must have from now on; None until the first one tells."""

    async def rows(self, inputs: Sequence[Input], purpose: Purpose, *, attempts: int | None = None) -> list[RawVector]:
        """Return one row a text, in order; raises CallError. `inputs` are no more than `api.items`."""
        try:
            return await self._rows(self.api, inputs, purpose, attempts)
        except CallError as error:
            older = self.api.older
            if error.kind is not FailureKind.MISSING or older is None or _names_model(error):
                raise
        rows = [row for one in inputs for row in await self._rows(older, [one], purpose, attempts)]
        self.api = older
        return rows

    async def _rows(self, api: Api, inputs: Sequence[Input], purpose: Purpose, attempts: int | None) -> list[RawVector]:
        call = api.call(inputs, purpose)
        return await self.endpoint.ask(
            "POST",
            self.endpoint.url(call.path),
            purpose,
            partial(self.decoded, api, len(inputs)),
            json_body=call.body,
            texts=[item.text for item in inputs],
            attempts=attempts,
        )

    def decoded(self, api: Api, count: int, body: bytes) -> list[RawVector]:
        """Return the rows of an answer; raises ValueError, and CallError when their length has changed."""
        rows = api.rows(decode_json(body), count)
        for row in rows:
            # told while the answer is read, so that the gate counts it: vectors of two models are never mixed
            if self.dimensions not in {None, len(row)}:
                raise CallError(
                    FailureKind.CHANGED,
                    f"it now answers with {len(row)} dimensions, and {self.dimensions} are wanted",
                    hint="the model behind the address has changed; restart memoryd, or set outputDimensionality",
                )
        return rows


def _names_model(error: CallError) -> bool:
    # Ollama answers 404 in both cases: with words for a model it has not, without for a path it does not know
    return "model" in error.reason.lower()
