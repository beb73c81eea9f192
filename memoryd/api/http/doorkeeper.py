"""The layer before everything on the loopback port: host, origin and token.

On the Unix socket the kernel says who asks. Here any program and any page of any user may, so each request brings the
token, and none is told more than that it did not.
"""

import asyncio
import math
import secrets
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.domain.loopback import DoorRules, HeaderPairs, WrongTokens, bearer_token
from memoryd.errors import Denied, MemorydError, TooManyTries, Unauthorized
from memoryd.files.token_file import TokenFile

log = structlog.get_logger(__name__)

HOLD_SECONDS: Final = 0.5
"""How long a token that is one wrong one too many waits for its answer."""
_TOKEN_HINT: Final = "send the header `Authorization: Bearer TOKEN`; memoryctl http token prints it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What a doorkeeper goes by; `refused` counts by reason."""

    rules: DoorRules
    token: TokenFile
    wrong: WrongTokens
    refused: Counter[str] = field(default_factory=Counter)


class Doorkeeper:
    """Lets `app` see requests that may come in; raises Denied, Unauthorized, TooManyTries."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: HeaderPairs = scope["headers"]
        self._check_sender(headers)
        await self._check_token(headers)

        async def send_while_known(message: Message) -> None:
            # a stream goes on for hours, and its token may have been taken back meanwhile
            if message.get("more_body") and not await self._is_known(bearer_token(headers)):
                message = {**message, "body": b"", "more_body": False}
            await send(message)

        await self._app(scope, receive, send_while_known)

    def _check_sender(self, headers: HeaderPairs) -> None:
        rules = self._door.rules
        if why := rules.why_not_host(headers):
            self._refuse("foreign host")
            raise Denied(f"the request is refused: {why}", hint="http.allowedHosts names hosts beside loopback")
        if why := rules.why_not_origin(headers):
            self._refuse("foreign origin")
            raise Denied(f"the request is refused: {why}", hint="http.allowedOrigins lists origins")

    async def _check_token(self, headers: HeaderPairs) -> None:
        given = bearer_token(headers)
        # looked at even after many wrong ones: else anybody on the machine could lock the owner out
        if await self._is_known(given):
            return
        if not given:
            self._refuse("no token")
            raise Unauthorized("there is no token", hint=_TOKEN_HINT)
        seconds = self._door.wrong.wait()
        if seconds:
            self._refuse("too many wrong tokens")
            await asyncio.sleep(HOLD_SECONDS)
            raise TooManyTries(f"too many wrong tokens; wait {math.ceil(seconds)} s", hint=_TOKEN_HINT)
        self._door.wrong.note()
        self._refuse("wrong token")
        raise Unauthorized("the token is wrong", hint=_TOKEN_HINT)

    async def _is_known(self, given: bytes) -> bool:
        """Tell whether this is the token now; without a file that can be trusted none is."""
        try:
            # read each time, so that a new one holds at once and an old one no more
            known = await asyncio.to_thread(self._door.token.read)
        except MemorydError:
            return False
        return secrets.compare_digest(given, known.encode())

    def _refuse(self, reason: str) -> None:
        self._door.refused[reason] += 1
        if self._door.refused[reason].bit_count() == 1:
            # the first, second, fourth, eighth …: whoever asks for ever does not fill the log
            log.warning("refused on the loopback port", reason=reason, times=self._door.refused[reason])
