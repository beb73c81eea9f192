"""An endpoint for text as it is reached now: opened with its key, and anew when the key is another one."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from memoryd.embed.remote.gate import EndpointGate
from memoryd.embed.remote.settings import CallTimeouts, Credentials
from memoryd.errors import ConfigError
from memoryd.llm.remote.chat_completions import PATH
from memoryd.llm.remote.text_access import TextAccess, TextKeys
from memoryd.retry import Retry

if TYPE_CHECKING:
    from memoryd.embed.remote.http import Endpoint

ANSWER_BYTES: Final = 1 << 20
ATTEMPTS: Final = 2
"""A question is asked again once, where that may help: each one costs."""


class ReachedEndpoint:
    """One endpoint, with the gate that remembers how long it asked to be left alone."""

    def __init__(self, access: TextAccess, keys: TextKeys, *, answer: timedelta, retry: Retry | None = None) -> None:
        self._access = access
        self._keys = keys
        self._answer = answer
        self._gate = EndpointGate(retry)
        self._open: tuple[Credentials, Endpoint] | None = None

    async def now(self) -> "Endpoint":
        """Return it with the key of now; raises ConfigError where there is none, or none that can be used."""
        credentials = await asyncio.to_thread(self._keys.open, self._access)
        if self._open is not None and self._open[0] == credentials:
            return self._open[1]
        await self.close()
        # httpx takes 70 ms to import, and a daemon without an endpoint never needs it
        from memoryd.embed.remote.http import tls

        await asyncio.to_thread(tls)
        self._gate.enter(credentials)
        # what is refused is the fault of what was asked, from the first question on
        self._gate.admit()
        self._open = credentials, self._made(credentials)
        return self._open[1]

    async def close(self) -> None:
        """Close the connections."""
        opened, self._open = self._open, None
        if opened is not None:
            await opened[1].aclose()

    def _made(self, credentials: Credentials) -> "Endpoint":
        import httpx

        from memoryd.embed.remote.http import Endpoint

        headers = {"authorization": f"Bearer {credentials.api_key}"} if credentials.api_key else {}
        headers |= {name.lower(): value for name, value in credentials.headers}
        if not all(text.isascii() and text.isprintable() for text in (*headers, *headers.values())):
            raise ConfigError(["the key or a header of memory.llm holds a character that HTTP does not allow"])
        try:
            return Endpoint(
                base_url=self._access.base_url.removesuffix(PATH),
                headers=headers,
                secrets=[credentials.api_key, *(value for _, value in credentials.headers)],
                concurrency=1,
                timeouts=CallTimeouts(query=self._answer, attempts=ATTEMPTS),
                gate=self._gate,
                answer_bytes=ANSWER_BYTES,
            )
        except httpx.InvalidURL as exc:
            raise ConfigError([f"the address of memory.llm cannot be used: {exc}"]) from exc
