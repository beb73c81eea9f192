"""Pictures and sounds at a provider that takes them: one request each."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final

from memoryd.domain.embedding import Vector
from memoryd.embed.protocol import Attachment, Passage, Purpose, Unembeddable
from memoryd.embed.remote.api import RawVector
from memoryd.embed.remote.channel import Channel
from memoryd.embed.remote.failures import CallError, FailureKind
from memoryd.embed.remote.gemini import GeminiApi
from memoryd.embed.remote.normalising import vector_of
from memoryd.embed.remote.splitting import SUSPECT, Splitter

NOT_THIS_FILE: Final = frozenset({FailureKind.REFUSED, FailureKind.TOO_LONG, FailureKind.TOO_MANY})

MediaAnswers = dict[bytes, Vector | Unembeddable]
"""By the SHA-256 of the bytes."""


class MediaSender:
    """Vectors that came before another file's call failed are kept for the next time: nothing is paid for twice."""

    def __init__(self, channel: Channel, splitter: Splitter) -> None:
        self._channel = channel
        self._splitter = splitter
        self._kept: MediaAnswers = {}

    async def answers_for(self, passages: Sequence[Passage]) -> MediaAnswers:
        """Return a vector or a reason for each attachment; raises CallError."""
        files = {passage.attachment: passage.text for passage in passages if passage.attachment is not None}
        todo = [(file, words) for file, words in files.items() if file.sha256 not in self._kept]
        # every request ends before the failure of one is told: what the others bring is kept
        outcomes = await asyncio.gather(*(self._send(file, words) for file, words in todo), return_exceptions=True)
        for outcome in outcomes:
            if outcome is not None:
                raise outcome
        return {file.sha256: self._kept.pop(file.sha256) for file in files}

    async def _send(self, file: Attachment, words: str) -> None:
        api = self._channel.api
        if not isinstance(api, GeminiApi) or not api.takes_media:
            self._kept[file.sha256] = Unembeddable("this model embeds text only")
            return
        try:
            self._kept[file.sha256] = vector_of(await self._row(api, file, words))
        except CallError as error:
            if error.kind not in NOT_THIS_FILE | SUSPECT:
                raise
            await self._splitter.probe()
            self._kept[file.sha256] = Unembeddable(error.reason)

    async def _row(self, api: GeminiApi, file: Attachment, words: str) -> RawVector:
        call = await asyncio.to_thread(api.media_call, file.data, file.mime, words)
        endpoint = self._channel.endpoint
        (row,) = await endpoint.ask(
            "POST",
            endpoint.url(call.path),
            Purpose.DOCUMENT,
            partial(self._channel.decoded, api, 1),
            json_body=call.body,
            texts=[words],
        )
        return row
