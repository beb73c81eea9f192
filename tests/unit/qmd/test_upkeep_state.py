"""How current the index of qmd is, by words and by meaning."""

import pytest

from memoryd.qmd.maintenance import MaintenanceState


@pytest.mark.parametrize(
    ("changed", "updated", "embedded", "by_words", "by_meaning"),
    [
        pytest.param(10, None, None, 0.0, 0.0, id="never updated"),
        pytest.param(10, 5, None, 5, 0.0, id="changed since, never embedded"),
        pytest.param(10, 11, None, None, 0.0, id="updated since, never embedded"),
        pytest.param(10, 11, 9, None, 9, id="embedded before the change"),
        pytest.param(10, 11, 12, None, None, id="all of it since"),
        pytest.param(10, 10, 10, 10, 10, id="within one tick of the clock proves nothing"),
    ],
)
def test_moment_up_to_which_changes_are_found(
    changed: float, updated: float | None, embedded: float | None, by_words: float | None, by_meaning: float | None
) -> None:
    state = MaintenanceState(changed, None, updated_at=updated, embedded_at=embedded)
    assert state.as_of(by_words=True) == by_words
    assert state.as_of(by_words=False) == by_meaning
    assert state.is_current == (by_words is None)


@pytest.mark.parametrize(
    ("updated", "embedded", "owes"), [(None, None, True), (5, None, True), (5, 4, True), (5, 5, False), (5, 6, False)]
)
def test_vectors_are_due_until_an_embedding_began_after_the_update(
    updated: float | None, embedded: float | None, owes: bool
) -> None:
    assert MaintenanceState(0, None, updated_at=updated, embedded_at=embedded).owes_vectors == owes
