"""Tests that share what their module starts are told so, and xdist is told by their ids."""

import pytest

from tests.groups import grouped


@pytest.fixture(scope="module")
def started() -> object:
    return object()


@pytest.mark.parametrize("number", [1, 2])
def test_tests_of_a_shared_module_are_for_one_worker(
    request: pytest.FixtureRequest, started: object, number: int
) -> None:
    groups = {item: group for item, group in grouped(request.session.items) if item.path == request.node.path}
    assert groups[request.node] == "test_groups"
    assert started
    assert number


def test_test_of_its_own_is_for_anybody(request: pytest.FixtureRequest) -> None:
    assert request.node not in dict(grouped(request.session.items))


def test_group_is_read_off_the_id(request: pytest.FixtureRequest, started: object) -> None:
    """Without `--dist loadgroup` nobody asks."""
    is_asked = request.config.getoption("loadgroup", default=False)
    assert request.node.nodeid.endswith("@test_groups") == bool(is_asked)
    assert started
