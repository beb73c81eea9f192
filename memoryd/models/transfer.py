"""What a download needs of HTTP: redirects that stay safe, ranges, and the meaning of a few headers."""

import contextlib
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

import httpx

from memoryd.errors import DownloadError
from memoryd.models.source import LOOPBACK

REDIRECTS_MAX: Final = 10
SHA256: Final = re.compile(r'"?([0-9a-f]{64})"?')
CONTENT_RANGE: Final = re.compile(r"bytes (\d+)-\d+/(?:(\d+)|\*)")
NO_RANGE: Final = re.compile(r"bytes \*/(\d+)")


@contextlib.asynccontextmanager
async def follow(
    client: httpx.AsyncClient, method: str, url: str, headers: dict[str, str], *, is_hub_asked: bool = False
) -> AsyncIterator[httpx.Response]:
    """Yield the answer at the end of the redirects, unread; if the hub is asked, the one that tells of the file.

    Every hop must be https, or plain http from and to this machine; nothing but `headers` goes along.
    Raises DownloadError for an unsafe or endless chain, httpx.TransportError for a broken one.
    """
    here = httpx.URL(url)
    _require_safe(here)
    for _ in range(REDIRECTS_MAX):
        response = await client.send(client.build_request(method, here, headers=headers), stream=True)
        try:
            there = response.next_request.url if response.next_request is not None else None
            if there is None or (is_hub_asked and (_tells_of_file(response) or there.netloc != here.netloc)):
                yield response
                return
            _require_safe(there, after=here)
            here = there
        finally:
            await response.aclose()
    raise DownloadError(f"cannot fetch a model: {httpx.URL(url).host} redirects without end", is_permanent=True)


def _require_safe(url: httpx.URL, *, after: httpx.URL | None = None) -> None:
    is_local = url.host in LOOPBACK and (after is None or after.scheme == "http")
    if url.scheme == "https" or (url.scheme == "http" and is_local):
        return
    raise DownloadError(
        f"will not fetch a model over {url.scheme} from {url.host}", hint="use https", is_permanent=True
    )


def _tells_of_file(response: httpx.Response) -> bool:
    return "X-Linked-Size" in response.headers or "X-Linked-Etag" in response.headers


def total_bytes(response: httpx.Response) -> int | None:
    """Return the size of the whole file as a 200, 206 or 416 answer tells it."""
    ranged = response.headers.get("Content-Range", "")
    if match := CONTENT_RANGE.fullmatch(ranged):
        return int(match[2]) if match[2] else None
    if match := NO_RANGE.fullmatch(ranged):
        return int(match[1])
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None


def range_start(response: httpx.Response) -> int | None:
    """Return where the body of a 206 answer begins in the file."""
    match = CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    return int(match[1]) if match else None


def validator(response: httpx.Response) -> str:
    """Return what If-Range may carry for this version of the file; a weak ETag may not stand there."""
    etag: str = response.headers.get("ETag", "")
    if etag.startswith('"'):
        return etag
    modified: str = response.headers.get("Last-Modified", "")
    return modified


def retry_after(response: httpx.Response) -> timedelta | None:
    """Return how long the server asks to wait (seconds or a date); None if it does not say."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return timedelta(seconds=min(int(value), 86_400))
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(timedelta(), at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC))


def linked_sha256(response: httpx.Response) -> str | None:
    """Return the content's hash that a hub gives for a large file; None for a small one or another server."""
    match = SHA256.fullmatch(response.headers.get("X-Linked-Etag", ""))
    return match[1] if match else None


def linked_bytes(response: httpx.Response) -> int | None:
    """Return the size that a hub gives for a large file."""
    size = response.headers.get("X-Linked-Size", "")
    return int(size) if size.isdecimal() else None


def in_words(error: httpx.TransportError) -> str:
    """Describe a broken connection for people."""
    try:
        host = error.request.url.host
    except RuntimeError:  # httpx could not tell which request it was
        host = "the server"
    if isinstance(error, httpx.ConnectError):
        return f"cannot reach {host} ({error})"
    if isinstance(error, httpx.TimeoutException):
        return f"{host} does not answer in time"
    return f"the connection to {host} broke off ({error})"
