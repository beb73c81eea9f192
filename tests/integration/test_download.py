"""Downloading a model from a server that behaves, disconnects, lies, or is another server."""

import asyncio
import contextlib
import random
import stat
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from memoryd.errors import DownloadError, ModelError
from memoryd.models.download import download
from memoryd.models.fetching import DownloadRequest, DownloadTimeouts, Progress
from tests.integration.model_server import Answer, ModelServer

CONTENT = b"GGUF" + random.Random(7).randbytes(3_000_000)
DIGEST = sha256(CONTENT).hexdigest()
BLOCK = 256 << 10
QUICK = DownloadTimeouts(
    connect=timedelta(seconds=2),
    read=timedelta(seconds=2),
    pauses=(timedelta(), timedelta()),
    retry_after_max=timedelta(seconds=1),
)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(CONTENT).running() as running:
        yield running


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "model.gguf"


async def fetched(
    server: ModelServer,
    target: Path,
    *,
    digest: str | None = None,
    is_hub: bool = False,
    seen: list[Progress] | None = None,
    timeouts: DownloadTimeouts = QUICK,
) -> str:
    url = f"{server.url}/o/r/resolve/main/m.gguf" if is_hub else f"{server.url}/m.gguf"
    request = DownloadRequest(spec="the model", url=url, sha256=digest, is_hub=is_hub)
    report = (seen if seen is not None else []).append
    return await download(request, target, report=report, check=lambda _: None, timeouts=timeouts)


async def failure(server: ModelServer, target: Path, **options: object) -> DownloadError:
    with pytest.raises(DownloadError) as caught:
        await fetched(server, target, **options)  # type: ignore[arg-type]  # passed through
    return caught.value


@contextlib.asynccontextmanager
async def hub_and_store() -> AsyncIterator[tuple[ModelServer, ModelServer]]:
    async with (
        ModelServer(CONTENT).running() as store,
        ModelServer(CONTENT, linked=True, store=store.url).running() as hub,
    ):
        yield hub, store


def leftovers(target: Path) -> list[str]:
    return sorted(path.name for path in target.parent.iterdir())


async def break_off(server: ModelServer, target: Path, **options: object) -> int:
    """Leave a partial download, as an earlier process would; return its size."""
    server.script += [None] * len(server.script) + [Answer(break_after=1_000_000)]
    server.script += [Answer(status=503)] * 3
    await failure(server, target, **options)
    server.script.clear()
    server.asked.clear()
    return target.with_name("model.gguf.part").stat().st_size


async def test_file_is_downloaded_whole_and_private(server: ModelServer, target: Path) -> None:
    seen: list[Progress] = []

    assert await fetched(server, target, digest=DIGEST, seen=seen) == DIGEST

    assert target.read_bytes() == CONTENT
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert leftovers(target) == ["model.gguf"]
    assert seen[0].step == "connecting"
    assert seen[-2] == Progress(len(CONTENT), len(CONTENT), "downloading")
    assert seen[-1].step == "checking"


async def test_broken_connection_is_resumed(server: ModelServer, target: Path) -> None:
    server.script = [Answer(break_after=1_000_000), Answer(break_after=1_000_000)]

    await fetched(server, target)

    assert target.read_bytes() == CONTENT
    starts = [request.headers.get("range") for request in server.asked]
    assert starts[0] is None
    assert starts[1] == f"bytes={1_000_000 // BLOCK * BLOCK}-"
    assert server.sent < len(CONTENT) + 2 * BLOCK


async def test_later_call_resumes_the_partial_file(server: ModelServer, target: Path) -> None:
    kept = await break_off(server, target)

    await fetched(server, target)

    assert target.read_bytes() == CONTENT
    assert kept > 0
    assert server.asked[0].headers["range"] == f"bytes={kept}-"
    assert server.asked[0].headers["if-range"] == '"v1"'


def change_file(server: ModelServer, _part: Path) -> None:
    server.content, server.etag = CONTENT[:2_000_000], '"v2"'


def refuse_ranges(server: ModelServer, _part: Path) -> None:
    server.has_ranges = False


def send_wrong_range(server: ModelServer, _part: Path) -> None:
    server.script = [Answer(status=206, headers={"Content-Range": "bytes 5-9/10"}, body=b"wrong")]


def lengthen_part(_server: ModelServer, part: Path) -> None:
    part.write_bytes(CONTENT + b"more")


@pytest.mark.parametrize("spoil", [change_file, refuse_ranges, send_wrong_range, lengthen_part])
async def test_unusable_part_is_discarded(
    server: ModelServer, target: Path, spoil: Callable[[ModelServer, Path], None]
) -> None:
    await break_off(server, target)
    spoil(server, target.with_name("model.gguf.part"))

    await fetched(server, target)

    assert target.read_bytes() == server.content


async def test_part_with_weak_etag_is_not_used(server: ModelServer, target: Path) -> None:
    server.etag = 'W/"weak"'
    server.script = [Answer(break_after=1_000_000)]

    await fetched(server, target)

    assert ["range" in request.headers for request in server.asked] == [False, False]
    assert target.read_bytes() == CONTENT


async def test_part_of_another_address_is_not_used(server: ModelServer, target: Path) -> None:
    await break_off(server, target, digest="0" * 64)

    await fetched(server, target, digest=DIGEST)

    assert "range" not in server.asked[0].headers
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("note", ["", "{", "[]", '{"spec": 1}'])
async def test_part_with_damaged_metadata_is_not_used(server: ModelServer, target: Path, note: str) -> None:
    await break_off(server, target)
    target.with_name("model.gguf.part.json").write_text(note)

    await fetched(server, target)

    assert "range" not in server.asked[0].headers
    assert target.read_bytes() == CONTENT


async def test_damaged_part_is_detected_by_hash(server: ModelServer, target: Path) -> None:
    await break_off(server, target, digest=DIGEST)
    with target.with_name("model.gguf.part").open("r+b") as part:
        part.seek(1000)
        part.write(b"spoilt")

    await fetched(server, target, digest=DIGEST)

    assert target.read_bytes() == CONTENT


async def test_complete_part_needs_no_more_bytes(server: ModelServer, target: Path) -> None:
    await break_off(server, target)
    target.with_name("model.gguf.part").write_bytes(CONTENT)

    await fetched(server, target)

    assert target.read_bytes() == CONTENT
    assert len(server.asked) == 1


async def test_wrong_hash_is_permanent_and_leaves_nothing(server: ModelServer, target: Path) -> None:
    error = await failure(server, target, digest="0" * 64)

    assert error.is_permanent
    assert DIGEST in str(error)
    assert leftovers(target) == []


@pytest.mark.parametrize("status", [404, 410, 401, 403, 400, 418])
async def test_refusal_is_permanent_unless_a_proxy_may_cause_it(server: ModelServer, target: Path, status: int) -> None:
    server.script = [Answer(status=status)]

    assert (await failure(server, target)).is_permanent is (status not in {401, 403})
    assert len(server.asked) == 1


async def test_gated_model_has_a_hint(server: ModelServer, target: Path) -> None:
    server.script = [Answer(status=401)]

    error = await failure(server, target)

    assert "account" in str(error)
    assert str(target) in error.hint


async def test_busy_server_is_retried(server: ModelServer, target: Path) -> None:
    server.script = [Answer(status=503, headers={"Retry-After": "0"}), Answer(status=429)]

    await fetched(server, target)

    assert target.read_bytes() == CONTENT


async def test_busy_server_is_given_up_temporarily(server: ModelServer, target: Path) -> None:
    server.script = [Answer(status=503)] * 9

    error = await failure(server, target)

    assert not error.is_permanent
    assert len(server.asked) == 3


async def test_long_retry_after_is_left_to_the_caller(server: ModelServer, target: Path) -> None:
    server.script = [Answer(status=503, headers={"Retry-After": "3600"})]

    assert not (await failure(server, target)).is_permanent
    assert len(server.asked) == 1


async def test_refused_connection_is_temporary(target: Path) -> None:
    async with ModelServer(CONTENT).running() as gone:
        pass

    error = await failure(gone, target)

    assert not error.is_permanent
    assert "cannot reach 127.0.0.1" in str(error)


async def test_silent_server_is_temporary(server: ModelServer, target: Path) -> None:
    server.script = [Answer(stall=True)] * 9
    timeouts = DownloadTimeouts(read=timedelta(milliseconds=50), pauses=())

    error = await failure(server, target, timeouts=timeouts)

    assert not error.is_permanent
    assert "does not answer in time" in str(error)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(headers={"Content-Type": "text/html; charset=utf-8"}, body=b"<p>Sign in</p>"),
        Answer(content=b"<!doctype html><title>Sign in</title>"),
        Answer(content=b"version https://git-lfs.github.com/spec/v1\n"),
    ],
)
@pytest.mark.parametrize("is_hub", [False, True])
async def test_page_instead_of_a_model_is_never_kept(
    server: ModelServer, target: Path, answer: Answer, is_hub: bool
) -> None:
    server.script = [None, answer] if is_hub else [answer]

    error = await failure(server, target, is_hub=is_hub)

    assert "the answer is" in str(error)
    assert error.is_permanent is not is_hub
    assert not target.exists()


async def test_hub_gives_hash_and_redirects_to_its_store(target: Path) -> None:
    async with hub_and_store() as (hub, store):
        await fetched(hub, target, is_hub=True)

    assert target.read_bytes() == CONTENT
    assert hub.methods() == ["HEAD", "GET"]
    assert store.methods() == ["GET"]


async def test_content_other_than_the_hub_announced_is_refused(target: Path) -> None:
    async with hub_and_store() as (hub, store):
        store.content = b"GGUF" + bytes(len(CONTENT) - 4)
        error = await failure(hub, target, is_hub=True)

    assert error.is_permanent
    assert leftovers(target) == []


async def test_hub_download_resumes_without_etag_of_store(target: Path) -> None:
    async with hub_and_store() as (hub, store):
        store.etag = ""
        store.script = [Answer(break_after=1_000_000)]
        await fetched(hub, target, is_hub=True)

    assert target.read_bytes() == CONTENT
    assert "range" in store.asked[1].headers


@pytest.mark.parametrize("place", ["http://198.51.100.7/m.gguf", "file:///etc/passwd", "ftp://127.0.0.1/m"])
async def test_redirect_to_an_unsafe_address_is_refused(server: ModelServer, target: Path, place: str) -> None:
    server.script = [Answer(status=302, headers={"Location": place})]

    error = await failure(server, target)

    assert len(server.asked) == 1
    assert not target.exists()
    assert error.is_permanent or not place.startswith("http")


async def test_endless_redirects_end(server: ModelServer, target: Path) -> None:
    server.script = [Answer(status=302, headers={"Location": "/again"})] * 50

    assert (await failure(server, target)).is_permanent
    assert len(server.asked) <= 11


async def test_unfit_content_is_refused_and_deleted(server: ModelServer, target: Path) -> None:
    def refuse(_path: Path) -> None:
        raise ModelError("it writes text")

    request = DownloadRequest(spec="the model", url=f"{server.url}/m.gguf")
    with pytest.raises(DownloadError, match="it writes text") as caught:
        await download(request, target, report=lambda _: None, check=refuse, timeouts=QUICK)

    assert caught.value.is_permanent
    assert leftovers(target) == []


async def test_download_without_content_length_works(server: ModelServer, target: Path) -> None:
    server.tells_length = False

    assert await fetched(server, target) == DIGEST


async def test_model_larger_than_the_disk_is_not_started(server: ModelServer, target: Path) -> None:
    server.script = [Answer(headers={"Content-Length": str(10**15)})]

    error = await failure(server, target)

    assert "no room" in str(error)
    assert not error.is_permanent
    assert leftovers(target) == []


async def test_body_longer_than_the_hub_announced_is_refused(target: Path) -> None:
    async with hub_and_store() as (hub, store):
        store.content = CONTENT + b"more"
        error = await failure(hub, target, is_hub=True)

    assert error.is_permanent
    assert leftovers(target) == []


async def test_cancelled_download_keeps_its_part(server: ModelServer, target: Path) -> None:
    started = asyncio.Event()

    def report(progress: Progress) -> None:
        if progress.done_bytes >= BLOCK:
            started.set()

    request = DownloadRequest(spec="the model", url=f"{server.url}/m.gguf")
    server.script = [Answer(break_after=1_000_000), Answer(stall=True)]
    task = asyncio.create_task(download(request, target, report=report, check=lambda _: None, timeouts=QUICK))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    server.script.clear()
    server.asked.clear()
    await fetched(server, target)
    assert "range" in server.asked[0].headers
    assert target.read_bytes() == CONTENT


async def test_unwritable_folder_is_named(server: ModelServer, tmp_path: Path) -> None:
    error = await failure(server, tmp_path / "absent" / "model.gguf")

    assert str(tmp_path / "absent") in str(error)
