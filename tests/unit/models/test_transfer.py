"""HTTP headers of a download, and how often progress is reported."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from memoryd.models import download
from memoryd.models.fetching import Progress, Throttle

DIGEST = "ab" * 32


def answer(**headers: str) -> httpx.Response:
    return httpx.Response(200, headers={key.replace("_", "-"): value for key, value in headers.items()})


@pytest.mark.parametrize(
    ("headers", "total", "start"),
    [
        ({"Content_Range": "bytes 5-9/10"}, 10, 5),
        ({"Content_Range": "bytes 5-9/*", "Content_Length": "5"}, None, 5),
        ({"Content_Range": "bytes */10"}, 10, None),
        ({"Content_Length": "10"}, 10, None),
        ({"Content_Length": "-1"}, None, None),
        ({"Content_Range": "lines 1-2/3"}, None, None),
        ({}, None, None),
    ],
)
def test_ranges_and_sizes(headers: dict[str, str], total: int | None, start: int | None) -> None:
    assert (download.total_bytes(answer(**headers)), download.range_start(answer(**headers))) == (total, start)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"ETag": '"a"', "Last_Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}, '"a"'),
        ({"ETag": 'W/"a"', "Last_Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}, "Mon, 01 Jan 2024 00:00:00 GMT"),
        ({"ETag": 'W/"a"'}, ""),
        ({}, ""),
    ],
)
def test_weak_etag_is_no_validator(headers: dict[str, str], expected: str) -> None:
    assert download.validator(answer(**headers)) == expected


def test_retry_after_is_a_time_from_now() -> None:
    wait = download.retry_after(answer(Retry_After=format_datetime(datetime.now(UTC) + timedelta(minutes=5))))

    assert wait is not None
    assert timedelta(minutes=4) < wait <= timedelta(minutes=5)
    assert download.retry_after(answer(Retry_After="soon")) is None


def test_hub_headers_give_size_and_hash() -> None:
    headers = answer(X_Linked_Etag=f'"{DIGEST}"', X_Linked_Size="12")

    assert (download.linked_sha256(headers), download.linked_bytes(headers)) == (DIGEST, 12)


def test_short_tag_of_a_small_file_is_not_a_sha256() -> None:
    small = answer(X_Linked_Etag=f'"{DIGEST[:40]}"', X_Linked_Size="many")

    assert (download.linked_sha256(small), download.linked_bytes(small)) == (None, None)


def test_progress_is_reported_ten_times_a_second_and_at_the_end() -> None:
    now = 0.0
    reported: list[Progress] = []
    throttle = Throttle(reported.append, clock=lambda: now)

    for done in range(1, 1001):
        now = done / 1000
        throttle(Progress(done, 1000, "downloading"))
    throttle(Progress(0, None, "checking"))

    assert 10 <= len(reported) <= 13
    assert reported[-2:] == [Progress(1000, 1000, "downloading"), Progress(0, None, "checking")]
