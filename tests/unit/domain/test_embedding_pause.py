import pytest

from memoryd.domain.embedding import NEEDLESS, PAUSED, PausePolicy


@pytest.mark.parametrize(
    ("policy", "why", "is_unwanted"),
    [
        (PausePolicy(), None, False),
        (PausePolicy(is_configured=True), PAUSED, False),
        (PausePolicy(is_needless=True), NEEDLESS, True),
        (PausePolicy(is_configured=True, is_needless=True), PAUSED, True),
    ],
)
def test_pause_has_a_reason(policy: PausePolicy, why: str | None, is_unwanted: bool) -> None:
    assert policy.why == why
    assert policy.is_paused is (why is not None)
    assert policy.is_unwanted is is_unwanted


@pytest.mark.parametrize("is_configured", [False, True])
@pytest.mark.parametrize("is_needless", [False, True])
def test_requested_vectors_are_never_paused(is_configured: bool, is_needless: bool) -> None:
    policy = PausePolicy(is_configured=is_configured, is_needless=is_needless, is_requested=True)
    assert not policy.is_paused
    assert not policy.is_unwanted
