"""HTTP for all providers: one client per endpoint, with time-outs, retries, limits and redaction.

A key and the texts go to the configured host only: a redirect elsewhere ends the call. Answers are read up to a bound.
"""

import asyncio
import functools
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

import httpx
from msgspec import Struct

from memoryd import __version__
from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.breaker import CallError, EndpointBreaker, FailureKind, meaning, redacted
from memoryd.embed.remote.settings import CallTimeouts, Credentials
from memoryd.errors import ModelError
from memoryd.models.source import LOOPBACK
from memoryd.retry import next_try

ANSWER_BYTES = 96 << 20
ERROR_BYTES = 64 << 10
HEAVY_BYTES = 256 << 10
"""A larger answer is decoded in a thread."""
REDIRECTS = 3
KEEPS_METHOD = frozenset({307, 308})
AGAIN = frozenset({FailureKind.UNAVAILABLE, FailureKind.BUSY, FailureKind.FAILING})
"""Failures that another try may solve."""

Decoded = TypeVar("Decoded")
Decode = Callable[[bytes], Decoded]
"""Decodes a body; raises ValueError for a body of another shape."""
Lost = Callable[[Sequence[str]], Awaitable[None]]
"""Called with the texts of each try that may have to be paid for and gave no answer."""


class _Call(Struct, Generic[Decoded], frozen=True):
    """A request that may be tried more than once; `deadline` (monotonic) bounds a question with all its tries."""

    request: httpx.Request
    purpose: Purpose
    decode: Decode[Decoded]
    texts: Sequence[str]
    deadline: float | None
    before: Callable[[], Awaitable[None]] | None


@functools.cache
def tls() -> ssl.SSLContext:
    """Return the TLS context with the trusted certificates, read once; slow, so make the first call in a thread."""
    return httpx.create_ssl_context()


class Endpoint:
    """One provider at one address. `whose` is its name in messages; `auth` has the headers with its key.

    Raises ModelError for an address, a key or a header that HTTP does not allow. No message shows the key.
    """

    def __init__(
        self,
        *,
        whose: str,
        base_url: str,
        auth: Mapping[str, str],
        credentials: Credentials,
        concurrency: int,
        timeouts: CallTimeouts,
        breaker: EndpointBreaker,
        answer_bytes: int | None = None,
        on_lost: Lost | None = None,
    ) -> None:
        # names in lower case, so that a configured header replaces ours instead of being sent beside it
        headers = {name.lower(): value for name, value in (*auth.items(), *credentials.headers)}
        if not all(text.isascii() and text.isprintable() for text in (*headers, *headers.values())):
            raise ModelError(f"the key or a header of {whose} holds a character that HTTP does not allow")
        try:
            self.base = httpx.URL(base_url.rstrip("/"))
        except httpx.InvalidURL as exc:
            raise ModelError(f"the address of {whose} cannot be used: {exc}") from exc
        self._secrets = (credentials.api_key, *(value for _, value in credentials.headers), self.base.password)
        self._timeouts = timeouts
        self._breaker = breaker
        self._answer_bytes = answer_bytes or ANSWER_BYTES
        self._on_lost = on_lost
        self._slots = asyncio.Semaphore(concurrency)
        self._client = httpx.AsyncClient(
            headers={"user-agent": f"memoryd/{__version__}", **headers, "accept-encoding": "identity"},
            timeout=httpx.Timeout(None, connect=timeouts.connect.total_seconds()),
            limits=httpx.Limits(max_connections=concurrency + 4, max_keepalive_connections=concurrency + 1),
            verify=tls(),
            # a configured proxy does not reach servers on this machine
            trust_env=self.base.host not in LOOPBACK,
        )

    @property
    def host(self) -> str:
        """The host of the endpoint, with the port if it is not the default one."""
        return self.base.netloc.decode("ascii").rpartition("@")[2]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def url(self, path: str) -> httpx.URL:
        """Return the URL of a path below the base URL, with the base's query."""
        return self.base.copy_with(path=self.base.path.rstrip("/") + path)

    async def ask(
        self,
        method: str,
        url: httpx.URL,
        purpose: Purpose,
        decode: Decode[Decoded],
        *,
        json_body: object = None,
        texts: Sequence[str] = (),
        attempts: int | None = None,
        within: float | None = None,
        before: Callable[[], Awaitable[None]] | None = None,
        **content: Any,  # what httpx sends: content=, files=, data=, headers=
    ) -> Decoded:
        """Call and decode, with retries; raises a redacted CallError without any key and any of `texts`.

        A question must be answered, including retries, within `timeouts.query`, or within `within` seconds if less.
        `before` runs before each try that is sent; an error that it raises ends the call.
        """
        if json_body is not None:
            content["content"] = await asyncio.to_thread(_encode, json_body)
            content["headers"] = {"Content-Type": "application/json"}
        request = self._client.build_request(method, url, **content)
        seconds = min(self._timeouts.query.total_seconds(), float("inf") if within is None else within)
        deadline = time.monotonic() + seconds if purpose is Purpose.QUERY else None
        call = _Call(request, purpose, decode, texts, deadline, before)
        try:
            return await self._ask_with_retries(call, attempts or self._timeouts.attempts)
        except CallError as error:
            self._breaker.note_exhausted(error)
            raise

    async def _ask_with_retries(self, call: _Call[Decoded], attempts: int) -> Decoded:
        # during the back-off after an exhausted call, questions fail at once instead of waiting
        if call.purpose is Purpose.QUERY and self._breaker.refuses_questions:
            raise self._not_now(self._breaker.wait(call.purpose))
        while True:
            await self._wait_at_gate(call)
            if call.before is not None:
                await call.before()
            try:
                return await self._attempt(call)
            except CallError as error:
                if error.was_taken and self._on_lost is not None:
                    await self._on_lost(call.texts)
                attempts -= 1
                if attempts <= 0 or error.kind not in AGAIN:
                    raise

    async def _wait_at_gate(self, call: _Call[Decoded]) -> None:
        """Wait until the breaker allows a call; raises CallError if that takes too long."""
        wait = self._breaker.wait(call.purpose)
        bound = self._timeouts.hold.total_seconds() if call.deadline is None else call.deadline - time.monotonic()
        if wait > bound:
            raise self._not_now(wait)
        if wait > 0:
            await asyncio.sleep(wait)

    def _not_now(self, wait: float) -> CallError:
        later = f"; {next_try(wait)}" if wait >= 1 else ""
        return CallError(FailureKind.UNAVAILABLE, f"{self._breaker.reason}{later}")

    async def _attempt(self, call: _Call[Decoded]) -> Decoded:
        # documents share `concurrency` requests; a question needs no slot
        async with nullcontext() if call.purpose is Purpose.QUERY else self._slots:
            started = self._breaker.note_start()
            limit = self._timeouts.bulk.total_seconds() if call.deadline is None else call.deadline - time.monotonic()
            is_late = False
            try:
                async with asyncio.timeout(limit):
                    answer = await self._exchange(call.request, call.decode)
            except TimeoutError:
                is_late = True
                error = CallError(FailureKind.UNAVAILABLE, f"no answer within {limit:.1f} s")
                error.was_taken = True
            except httpx.RequestError as exc:
                is_late = isinstance(exc, httpx.TimeoutException)
                error = CallError(FailureKind.UNAVAILABLE, _describe(exc))
                error.was_taken = isinstance(exc, httpx.ReadTimeout | httpx.ReadError | httpx.RemoteProtocolError)
            except CallError as exc:
                error = exc
            else:
                self._breaker.note_answer()
                return answer
        error.reason = f"{self.host}: {redacted(error.reason, self._secrets, call.texts)}"
        self._breaker.note_failure(error, call.purpose, started=started, is_late=is_late)
        raise error

    async def _exchange(self, request: httpx.Request, decode: Decode[Decoded]) -> Decoded:
        async with self._follow_redirects(request) as response:
            if not response.is_success:
                body = await _read(response, ERROR_BYTES, is_cut=True)
                raise meaning(response.status_code, body, response.headers.get("Retry-After", ""), datetime.now(UTC))
            body = await _read(response, self._answer_bytes)
        try:
            return await asyncio.to_thread(decode, body) if len(body) > HEAVY_BYTES else decode(body)
        except ValueError as exc:
            error = CallError(FailureKind.FAILING, f"an answer that cannot be used: {exc}")
            error.was_taken = True
            raise error from exc

    @asynccontextmanager
    async def _follow_redirects(self, request: httpx.Request) -> AsyncIterator[httpx.Response]:
        """Yield the final response after redirects within the origin; to other origins only a bare GET is sent."""
        for _ in range(REDIRECTS):
            if self._client.is_closed:
                # the provider was reopened, with another key, while a question waited
                raise CallError(FailureKind.UNAVAILABLE, "it is being opened anew")
            response = await self._client.send(request, stream=True)
            try:
                if response.next_request is None:
                    yield response
                    return
                request = self._next(request, response, response.next_request.url)
            finally:
                await response.aclose()
                # response and stream refer to each other, and would keep the megabytes of a sent picture in memory
                del response.stream
        raise CallError(FailureKind.ELSEWHERE, "redirects without end")

    def _next(self, request: httpx.Request, response: httpx.Response, there: httpx.URL) -> httpx.Request:
        is_read = request.method == "GET"
        if _origin(there) == _origin(request.url) and (is_read or response.status_code in KEEPS_METHOD):
            headers = request.headers.copy()
            for name in ("Host", "Content-Length"):
                headers.pop(name, None)
            return httpx.Request(request.method, there, headers=headers, content=b"" if is_read else request.read())
        if is_read and (there.scheme == "https" or there.host in LOOPBACK):
            return httpx.Request("GET", there)
        raise CallError(
            FailureKind.ELSEWHERE,
            f"{response.status_code}, it redirects to {there.scheme}://{there.host}",
            hint="if that is right, put the address there into memorySearch.remote.baseUrl",
        )


def _encode(body: object) -> bytes:
    # "replace": a lone surrogate cannot be encoded
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace")


def decode_json(body: bytes) -> object:
    """Return the JSON of a body; raises ValueError, whose message has no part of the body."""
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError) as exc:
        raise ValueError("it is not JSON; perhaps a login page or a proxy answers at this address") from exc
    return answer


async def _read(response: httpx.Response, limit: int, *, is_cut: bool = False) -> bytes:
    body = bytearray()
    async for block in response.aiter_bytes():
        body += block
        if len(body) > limit:
            if is_cut:
                return bytes(body[:limit])
            raise CallError(FailureKind.FAILING, f"an answer of more than {limit >> 20} MiB")
    return bytes(body)


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _describe(exc: httpx.RequestError) -> str:
    if isinstance(exc, httpx.ConnectTimeout):
        return "no connection in time"
    if isinstance(exc, httpx.ConnectError):
        return f"no connection ({exc})"
    if isinstance(exc, httpx.TransportError):
        return f"the connection broke off ({str(exc) or type(exc).__name__})"
    return f"the request failed ({type(exc).__name__})"
