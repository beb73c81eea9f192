"""Which requests documents are sent in, and how the one text is found that spoils a request."""

from collections.abc import Sequence
from typing import Final

import structlog

from memoryd.domain.embedding import Vector
from memoryd.domain.text.tokens import estimate
from memoryd.embed.protocol import Purpose, Unembeddable
from memoryd.embed.remote.api import Input
from memoryd.embed.remote.catalogue import BUSY_ITEMS
from memoryd.embed.remote.channel import Channel
from memoryd.embed.remote.failures import CallError, FailureKind
from memoryd.embed.remote.normalising import vector_of

log = structlog.get_logger(__name__)

Answers = dict[Input, Vector | Unembeddable]

PROBE: Final = Input("memory")
"""A text that says nothing about the user and that every model embeds."""
SHORTEST: Final = 64
"""Characters below which a text that is called too long is not halved any more."""
SUSPECT: Final = frozenset({FailureKind.REFUSED, FailureKind.FAILING})
"""The texts may be the cause, or the settings, or the endpoint: a probe tells."""


class Splitter:
    """Remembers the size of request that an endpoint was heard to take. `tokens` bounds a request, too."""

    def __init__(self, channel: Channel, *, tokens: float) -> None:
        self._channel = channel
        self._tokens = tokens
        self._items = BUSY_ITEMS

    def parts(self, inputs: Sequence[Input]) -> list[list[Input]]:
        """Return requests within the provider's limits; a text that is larger than all of them stands alone."""
        parts: list[list[Input]] = []
        room, items = 0.0, min(self._items, self._channel.api.items)
        for item in inputs:
            cost = estimate(item.text)
            if not parts or len(parts[-1]) >= items or cost > room:
                parts.append([])
                room = self._tokens
            parts[-1].append(item)
            room -= cost
        return parts

    async def embed(self, part: Sequence[Input], answers: Answers) -> None:
        """Send one request, or as many as it takes, and note every answer as it comes; raises CallError."""
        try:
            await self._send(part, part, answers)
        except CallError as error:
            if error.kind in SUSPECT:
                await self.probe()
            await self._smaller(part, error, answers)

    async def probe(self) -> int:
        """Embed a harmless text; the number of its dimensions. Raises CallError if even that fails."""
        (row,) = await self._channel.rows([PROBE], Purpose.DOCUMENT)
        return len(row)

    async def _send(
        self, sent: Sequence[Input], part: Sequence[Input], answers: Answers, *, attempts: int | None = None
    ) -> None:
        rows = await self._channel.rows(sent, Purpose.DOCUMENT, attempts=attempts)
        answers.update(zip(part, [vector_of(row) for row in rows], strict=True))

    async def _smaller(self, part: Sequence[Input], error: CallError, answers: Answers) -> None:
        """Go on after a refusal: in halves, or, with a text that stands alone, with less of it."""
        if error.kind not in SUSPECT | {FailureKind.TOO_MANY, FailureKind.TOO_LONG}:
            raise error
        if len(part) == 1:
            answers[part[0]] = await self._alone(part[0], error, answers)
            return
        middle = len(part) // 2
        if error.kind is FailureKind.TOO_MANY:
            self._items = min(self._items, max(1, middle))
            log.info("smaller embedding requests from now on", texts=self._items, reason=error.reason)
        for half in (part[:middle], part[middle:]):
            try:
                await self._send(half, half, answers, attempts=1 if error.kind is FailureKind.FAILING else None)
            except CallError as again:
                await self._smaller(half, again, answers)

    async def _alone(self, item: Input, error: CallError, answers: Answers) -> Vector | Unembeddable:
        """Return the vector of as much of a text's beginning as the endpoint takes."""
        text = item.text
        while error.kind in {FailureKind.TOO_LONG, FailureKind.TOO_MANY} and len(text) > SHORTEST:
            text = text[: len(text) // 2]
            try:
                await self._send([Input(text, item.title)], [item], answers)
            except CallError as again:
                error = again
            else:
                return answers[item]
        if error.kind in SUSPECT | {FailureKind.TOO_LONG, FailureKind.TOO_MANY}:
            return Unembeddable(error.reason)
        raise error
