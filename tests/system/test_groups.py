"""Tests that share a module's daemon are grouped for one worker, and xdist reads the group from their ids."""

import pytest

from tests.groups import TESTS, grouped


@pytest.fixture(scope="module")
def started() -> object:
    return object()


@pytest.mark.parametrize("number", [1, 2])
def test_tests_with_a_module_fixture_are_for_one_worker(
    request: pytest.FixtureRequest, started: object, number: int
) -> None:
    groups = {item: group for item, group in grouped(request.session.items) if item.path == request.node.path}
    assert groups[request.node] == "test_groups"
    assert started
    assert number


def test_test_without_a_module_fixture_is_ungrouped(request: pytest.FixtureRequest) -> None:
    assert request.node not in dict(grouped(request.session.items))


class CollectedTest:
    """The attributes of a test that grouping reads."""

    def __init__(self, path: str) -> None:
        self.path = TESTS / path

    def get_closest_marker(self, _name: str) -> None:
        """Return that it has no mark."""


@pytest.mark.parametrize("folder", ["unit/domain/text", "store", "integration"])
def test_module_without_a_daemon_is_for_one_worker(folder: str) -> None:
    tests = [CollectedTest(f"{folder}/test_{name}.py") for name in ("words", "dates", "words")]
    found = [group for _, group in grouped(tests)]  # type: ignore[arg-type]
    assert found == [f"{folder}/test_{name}" for name in ("words", "dates", "words")]


def test_group_is_part_of_the_id(request: pytest.FixtureRequest, started: object) -> None:
    """Only with `--dist loadgroup`."""
    is_asked = request.config.getoption("loadgroup", default=False)
    assert request.node.nodeid.endswith("@test_groups") == bool(is_asked)
    assert started
