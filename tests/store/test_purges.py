"""The count of purges: nothing that was read before or beside one counts as read since."""

from memoryd.store.index.vectors import Purges


def test_purge_that_began_since_is_known() -> None:
    purges = Purges()
    before = purges.mark
    assert purges.has_none_since(before)
    with purges.counted():
        assert not purges.has_none_since(before)
    assert not purges.has_none_since(before)
    assert purges.has_none_since(purges.mark)


def test_nothing_is_known_of_what_was_read_beside_a_purge() -> None:
    purges = Purges()
    with purges.counted():
        beside = purges.mark
    assert not purges.has_none_since(beside)


def test_purge_ends_with_the_last_of_those_under_way() -> None:
    purges = Purges()
    with purges.counted():
        with purges.counted():
            pass
        assert purges.mark is None
    assert purges.mark is not None
