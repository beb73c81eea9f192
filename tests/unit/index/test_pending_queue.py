"""The queue of passages that wait for vectors."""

import pytest

from memoryd.domain.documents import RelativePath
from memoryd.index.pending import PendingQueue
from memoryd.store.index.passages import PendingFile, PendingPassage


def text(number: int) -> PendingPassage:
    return PendingPassage(b"t%d" % number, "", f"text {number}")


def picture(number: int, size: int) -> PendingPassage:
    file = PendingFile(RelativePath(f"assets/{number}.png"), b"", size)
    return PendingPassage(b"p%d" % number, "", "", file)


@pytest.fixture
def queue() -> PendingQueue:
    return PendingQueue(file_bytes=100, files_at_once=3)


def taken(queue: PendingQueue, size: int) -> list[bytes]:
    return [passage.hash for passage in queue.take(size)]


def test_texts_are_taken_by_count(queue: PendingQueue) -> None:
    queue.fill(text(number) for number in range(5))
    assert taken(queue, 3) == [b"t0", b"t1", b"t2"]
    assert taken(queue, 3) == [b"t3", b"t4"]
    assert taken(queue, 3) == []
    assert len(queue) == 0


def test_files_and_texts_are_never_in_one_batch(queue: PendingQueue) -> None:
    queue.fill([text(0), picture(0, 10), picture(1, 10)])
    assert not queue.begins_with_file
    assert taken(queue, 3) == [b"t0"]
    assert queue.begins_with_file
    assert taken(queue, 3) == [b"p0", b"p1"]


def test_files_are_taken_by_bytes_and_a_large_one_alone(queue: PendingQueue) -> None:
    queue.fill([picture(0, 60), picture(1, 40), picture(2, 1), picture(3, 500), picture(4, 1)])
    assert taken(queue, 512) == [b"p0", b"p1"]
    assert taken(queue, 512) == [b"p2"]
    assert taken(queue, 512) == [b"p3"]
    assert taken(queue, 512) == [b"p4"]


def test_number_of_files_in_a_batch_is_limited(queue: PendingQueue) -> None:
    queue.fill([picture(number, 1) for number in range(5)])
    assert taken(queue, 512) == [b"p0", b"p1", b"p2"]


def test_passages_put_back_come_first_in_order(queue: PendingQueue) -> None:
    queue.fill(text(number) for number in range(4))
    batch = queue.take(3)
    queue.put_back(batch[1:])
    assert taken(queue, 4) == [b"t1", b"t2", b"t3"]


def test_fill_replaces_the_queue(queue: PendingQueue) -> None:
    queue.fill([text(0)])
    queue.fill([text(1)])
    assert taken(queue, 4) == [b"t1"]
    queue.fill([text(2)])
    queue.clear()
    assert not queue


def test_unreadable_file_waits_until_its_time(queue: PendingQueue) -> None:
    assert queue.hold_ends_in(0) is None
    assert queue.why_waiting is None
    queue.hold(b"p0", "it is being written", until=5)
    queue.hold(b"p1", "no permission", until=9)
    assert queue.why_waiting == "it is being written"
    assert queue.hold_ends_in(2) == 3
    assert queue.waiting_files(4.9) == (b"p0", b"p1")
    assert queue.waiting_files(5) == (b"p1",)
    assert queue.has_waiting
    assert queue.hold_ends_in(10) == 0.01, "never 0: the store was just asked without it"
    assert queue.waiting_files(9) == ()
    assert not queue.has_waiting
