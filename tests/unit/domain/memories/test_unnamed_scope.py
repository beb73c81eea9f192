"""The scope of a memory that names none."""

import pytest

from memoryd.domain.memories.kinds import is_scope, scope_admits, unnamed_scope


@pytest.mark.parametrize(
    ("channel", "is_alone", "scope"),
    [
        ("", True, ""),
        ("", False, "agent:one"),
        ("discord:7", True, "agent:one:discord:7"),
        ("discord:7", False, "agent:one:discord:7"),
    ],
)
def test_scope_follows_agent_and_channel(channel: str, is_alone: bool, scope: str) -> None:
    assert unnamed_scope("one", channel, is_alone=is_alone) == scope
    assert scope_admits(scope, "one", channel or None)
    assert scope_admits(scope, "two", channel or None) is (scope == "")
    assert not scope or is_scope(scope)
