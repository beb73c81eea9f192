"""The purge counter: data read before or during a purge does not count as read since."""

from memoryd.store.index.vectors import Purges


def test_mark_before_a_purge_is_outdated() -> None:
    purges = Purges()
    before = purges.mark
    assert purges.has_none_since(before)
    with purges.counted():
        assert not purges.has_none_since(before)
    assert not purges.has_none_since(before)
    assert purges.has_none_since(purges.mark)


def test_mark_during_a_purge_is_outdated() -> None:
    purges = Purges()
    with purges.counted():
        during = purges.mark
    assert not purges.has_none_since(during)


def test_overlapping_purges_end_with_the_last() -> None:
    purges = Purges()
    with purges.counted():
        with purges.counted():
            pass
        assert purges.mark is None
    assert purges.mark is not None
