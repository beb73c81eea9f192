"""Download of one large file over HTTPS: resumable, checked, and put in place only when complete.

A later call resumes the part left by an earlier one, if the server confirms the version (If-Range, RFC 9110
section 13.1.5) or the hash of the content is known. One caller at a time for one target. Redirects must be safe.
"""

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
from msgspec import Struct
from msgspec.structs import replace

from memoryd import __version__
from memoryd.domain.expressions import expression
from memoryd.errors import DownloadError, ModelError
from memoryd.models.fetching import (
    DownloadRequest,
    DownloadTimeouts,
    PartFile,
    PartNote,
    Progress,
    Report,
    seconds_until,
)
from memoryd.models.gguf import describe_other, hash_file
from memoryd.models.source import LOOPBACK

BLOCK = 256 << 10
SPARE_BYTES = 64 << 20
"""Space to leave free on the disk."""
BYTES_MAX = 64 << 30
HEADERS = {"Accept-Encoding": "identity", "User-Agent": f"memoryd/{__version__}"}
NO_ACCESS = frozenset({401, 403})
NO_FILE = frozenset({404, 410})
BUSY = frozenset({408, 425, 429})
NO_HEAD = frozenset({405, 501})


class _AgainError(Exception):
    """This attempt failed, but the next may succeed; `pause` is set if it is known how long to wait."""

    def __init__(self, reason: str, *, pause: timedelta | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


async def download(
    request: DownloadRequest,
    target: Path,
    *,
    report: Report,
    check: Callable[[Path], object],
    timeouts: DownloadTimeouts | None = None,
) -> str:
    """Download `request` to `target`; return the SHA-256 of its content. `check` raises ModelError for unfit content.

    Raises DownloadError; it is permanent if a retry cannot help (no such file, a wrong hash, no model). After a
    cancellation or a temporary failure the part is left for the next call.
    """
    timeouts = timeouts or DownloadTimeouts()
    timeout = httpx.Timeout(timeouts.read.total_seconds(), connect=timeouts.connect.total_seconds())
    async with httpx.AsyncClient(timeout=timeout, headers=HEADERS) as client:
        try:
            return await _Download(request, PartFile(target), client, report, check, timeouts).run()
        except OSError as exc:
            reason = exc.strerror or exc
            raise DownloadError(f"cannot store {request.spec} in {target.parent}: {reason}") from exc


async def answers(url: str, limit: timedelta) -> bool:
    """Return whether a server confirms within `limit` that the file exists, or redirects to it."""
    try:
        async with httpx.AsyncClient(timeout=limit.total_seconds(), headers=HEADERS) as client:
            return not (await client.head(url)).is_error
    except httpx.HTTPError:
        return False


class _Download(Struct):
    request: DownloadRequest
    part: PartFile
    client: httpx.AsyncClient
    report: Report
    check: Callable[[Path], object]
    timeouts: DownloadTimeouts
    _has_hub_details: bool = False
    _is_resumed: bool = False
    _trouble: str = ""
    """Why the last attempt failed; empty after the next byte."""

    async def run(self) -> str:
        failures = 0
        while True:
            before = self.part.bytes()
            try:
                await self._attempt()
                return await self._finish()
            except (httpx.TransportError, _AgainError) as exc:
                # a slow connection that gains some bytes at each attempt is not given up
                failures = 1 if self.part.bytes() > before else failures + 1
                pause = self._pause_after(exc, failures)
                self._trouble = f"cannot fetch {self.request.spec} now: {_describe(exc)}; trying again"
            self._report_step("waiting")
            await asyncio.sleep(pause.total_seconds())

    def _pause_after(self, exc: httpx.TransportError | _AgainError, failures: int) -> timedelta:
        pause = exc.pause if isinstance(exc, _AgainError) else None
        if failures > len(self.timeouts.pauses) or (pause or timedelta()) > self.timeouts.retry_after_max:
            raise DownloadError(
                f"cannot fetch {self.request.spec} now: {_describe(exc)}",
                hint=f"another attempt goes on where this one stopped; or put the file at {self.part.target}"
                f"{self.request.instead and f', or {self.request.instead}'}",
            ) from exc
        return self.timeouts.pauses[failures - 1] if pause is None else pause

    async def _attempt(self) -> None:
        self._report_step("connecting")
        if self.request.is_hub and not self._has_hub_details:
            await self._ask_hub()
        start = self._resumable_bytes()
        self._is_resumed = start > 0
        if start and start == self.request.size:
            return
        async with follow(self.client, "GET", self.request.url, self._headers(start)) as response:
            if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                if start and total_bytes(response) == start:
                    return
                self.part.discard()
                raise _AgainError("the file on the server has changed", pause=timedelta())
            start = self._accept(response, start)
            total = total_bytes(response)
            self._require_room(start, total)
            request = self.request
            self.part.keep_note(PartNote(request.spec, request.url, validator(response), request.sha256, total))
            await self._receive(response, start, total)

    async def _ask_hub(self) -> None:
        """Get size and hash from the hub's own response; the store that it redirects to does not have them."""
        url = self.request.url
        async with follow(self.client, "HEAD", url, {}, from_hub=True) as response:
            if response.status_code >= 400 and response.status_code not in NO_HEAD:
                raise self._meaning(response)
            self.request = replace(
                self.request,
                sha256=linked_sha256(response),
                size=linked_bytes(response),
            )
        self._has_hub_details = True

    def _resumable_bytes(self) -> int:
        """Return how many bytes of the part can be used; delete a part of another file or version."""
        note, request, size = self.part.note(), self.request, self.part.bytes()
        is_same = note is not None and (note.url, note.sha256) == (request.url, request.sha256)
        is_vouched_for = note is not None and bool(note.validator or request.sha256)
        if is_same and is_vouched_for and size <= (request.size or size):
            return size
        self.part.discard()
        return 0

    def _headers(self, start: int) -> dict[str, str]:
        if not start:
            return {}
        note = self.part.note()
        condition = {"If-Range": note.validator} if note is not None and note.validator else {}
        return {"Range": f"bytes={start}-", **condition}

    def _accept(self, response: httpx.Response, start: int) -> int:
        """Return where in the file the body begins; raises the error for any other status."""
        if response.status_code == httpx.codes.PARTIAL_CONTENT:
            if range_start(response) == start:
                return start
            self.part.discard()
            raise _AgainError("the server sends another range than asked for", pause=timedelta())
        if response.status_code != httpx.codes.OK:
            raise self._meaning(response)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            raise self._not_a_model("a web page, not a model")
        self._is_resumed = False
        return 0

    def _meaning(self, response: httpx.Response) -> Exception:
        status = response.status_code
        if status in NO_FILE:
            return self._refusal("there is no such file", "check the spelling of the source")
        if status in NO_ACCESS:
            by_hand = f"fetch it with your account and put the file at {self.part.target}"
            # not permanent: a proxy's log-in page may answer like this
            return DownloadError(
                f"cannot fetch {self.request.spec}: it does not exist or needs an account", hint=by_hand
            )
        if status in BUSY or status >= 500:
            return _AgainError(f"the server answers {status}", pause=retry_after(response))
        return self._refusal(f"the server answers {status}", "check the address")

    def _refusal(self, reason: str, hint: str) -> DownloadError:
        return DownloadError(f"cannot fetch {self.request.spec}: {reason}", hint=hint, is_permanent=True)

    def _not_a_model(self, what: str) -> DownloadError:
        return DownloadError(
            f"cannot fetch {self.request.spec}: the answer is {what}",
            hint="is there a log-in page or a proxy between?" if self.request.is_hub else "check the address",
            is_permanent=not self.request.is_hub,
        )

    def _require_room(self, start: int, total: int | None) -> None:
        free = shutil.disk_usage(self.part.target.parent).free
        needed = (total or 0) - start + SPARE_BYTES
        if free < needed:
            raise DownloadError(
                f"no room for {self.request.spec}: {needed >> 20} MiB are needed, {free >> 20} MiB are free",
                hint=f"make room in {self.part.target.parent}, or set local.modelCacheDir",
            )

    async def _receive(self, response: httpx.Response, start: int, total: int | None) -> None:
        done = start
        with self.part.open_at(start) as part:
            async for block in response.aiter_raw(BLOCK):
                if done == 0 and (instead := describe_other(block)):
                    raise self._not_a_model(instead)
                done += len(block)
                self._trouble = ""
                if done > (total or BYTES_MAX):
                    raise self._refusal("it is larger than announced", "check the address")
                await asyncio.to_thread(part.write, block)
                self.report(Progress(done, total, "downloading"))
            await asyncio.to_thread(os.fsync, part.fileno())
        if total is not None and done < total:
            raise _AgainError(f"the connection ended after {done:,} of {total:,} bytes")

    async def _finish(self) -> str:
        self._report_step("checking")
        digest = await asyncio.to_thread(hash_file, self.part.path)
        self._require_same(self.part.bytes(), digest)
        try:
            await asyncio.to_thread(self.check, self.part.path)
        except ModelError as exc:
            self.part.discard()
            raise self._refusal(str(exc), exc.hint) from exc
        await asyncio.to_thread(self.part.publish)
        return digest

    def _require_same(self, size: int, digest: str) -> None:
        request = self.request
        if request.size in {None, size} and request.sha256 in {None, digest}:
            return
        self.part.discard()
        if self._is_resumed:  # the old part may be damaged: once more from the start
            raise _AgainError("the parts do not fit together", pause=timedelta())
        received = f"{size:,} bytes with sha256 {digest}"
        announced = f"{request.sha256 or 'any hash'}, {request.size or 'any number of'} bytes"
        raise self._refusal(f"it is not what was announced: {received}, not {announced}", "do not use this source")

    def _report_step(self, step: str) -> None:
        self.report(Progress(self.part.bytes(), self.request.size, step, self._trouble))


REDIRECTS_MAX = 10
HUB_HEADERS = frozenset({"x-linked-size", "x-linked-etag"})
SHA256 = expression(r'"?([0-9a-f]{64})"?')
CONTENT_RANGE = expression(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")


@contextlib.asynccontextmanager
async def follow(
    client: httpx.AsyncClient, method: str, url: str, headers: dict[str, str], *, from_hub: bool = False
) -> AsyncIterator[httpx.Response]:
    """Yield the unread response after all redirects; with `from_hub`, the hub's response with size and hash.

    Each hop must be https, or plain http between addresses of this machine; only `headers` are sent.
    Raises DownloadError for an unsafe or endless chain, httpx.TransportError for a broken one.
    """
    current = httpx.URL(url)
    _require_safe(current)
    for _ in range(REDIRECTS_MAX):
        response = await client.send(client.build_request(method, current, headers=headers), stream=True)
        try:
            target = response.next_request.url if response.next_request is not None else None
            if target is None or (
                from_hub and (not HUB_HEADERS.isdisjoint(response.headers) or target.netloc != current.netloc)
            ):
                yield response
                return
            _require_safe(target, after=current)
            current = target
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


def total_bytes(response: httpx.Response) -> int | None:
    """Return the size of the complete file from a 200, 206 or 416 response."""
    match = CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    length = match[2] if match else response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None


def range_start(response: httpx.Response) -> int | None:
    """Return where in the file the body of a 206 response begins."""
    match = CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    return int(match[1]) if match and match[1] else None


def validator(response: httpx.Response) -> str:
    """Return the If-Range value for this version: a strong ETag, or Last-Modified; empty if there is none."""
    etag: str = response.headers.get("ETag", "")
    if etag.startswith('"'):
        return etag
    modified: str = response.headers.get("Last-Modified", "")
    return modified


def retry_after(response: httpx.Response) -> timedelta | None:
    """Return how long the server asks to wait; None if it does not say."""
    seconds = seconds_until(response.headers.get("Retry-After", ""), datetime.now(UTC))
    return None if seconds is None else timedelta(seconds=seconds)


def linked_sha256(response: httpx.Response) -> str | None:
    """Return the hash that a hub gives for a large file; None for small files and other servers."""
    match = SHA256.fullmatch(response.headers.get("X-Linked-Etag", ""))
    return match[1] if match else None


def linked_bytes(response: httpx.Response) -> int | None:
    """Return the size that a hub gives for a large file; None if it does not."""
    size = response.headers.get("X-Linked-Size", "")
    return int(size) if size.isdecimal() else None


def _describe(error: httpx.TransportError | _AgainError) -> str:
    """Describe a failed attempt for users."""
    if isinstance(error, _AgainError):
        return str(error)
    try:
        host = error.request.url.host
    except RuntimeError:  # httpx does not know the request
        host = "the server"
    if isinstance(error, httpx.ConnectError):
        return f"cannot reach {host} ({error})"
    if isinstance(error, httpx.TimeoutException):
        return f"{host} does not answer in time"
    return f"the connection to {host} broke off ({error})"
