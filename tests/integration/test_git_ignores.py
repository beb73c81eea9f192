"""Our patterns compared with the real git, on generated ignore files and paths."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryd.domain.patterns import Patterns
from tests.sweeps import whole_or

EXAMPLES = int(os.environ.get("MEMORYD_PRIVACY_EXAMPLES", whole_or(5, 60)))
PIECES = [
    *("a", "b", "ab", "a.md", "B", "-", "!", "#", " ", ".", "é"),
    *("*", "**", "***", "?", "/", "/", "**/", "/**", "/**/", "\\", "\\*", "\\ ", "\\/"),
    *("[ab]", "[!a]", "[^b]", "[a-c]", "[]-a]", "[a-]", "[[:alpha:]]", "[[:upper:]b]", "[[:x:]]", "[\\]]", "[", "]"),
    *("[[:]", "[[:alpha]", "[a/b]", "[b-a]", "[!-a]", "[a\\-c]", "[z-é]"),
]
SLIPS = re.compile(r"^\s|//|(^|/)\.{1,2}(/|$)|\s#|[\w*.]\\+[\w*.]|\.[^/]*/$")
"""Patterns read both literally and as probably meant, so that more is hidden than by git."""
patterns = st.builds(
    lambda pieces, is_negated: "!" * is_negated + "".join(pieces),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6),
    st.booleans(),
).filter(lambda pattern: not SLIPS.search(pattern.removeprefix("!")))
names = st.sampled_from(
    ["a", "b", "c", "ab", "abc", "a.md", "b.md", "B", "aab", "a b", "!a", "#a", "a-c", "-", "a ", "]"]
)
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("there is no git to compare with")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", folder], check=True, env=environment(folder))
    return folder


def environment(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}


def hidden_by_git(repository: Path, lines: Sequence[str], asked: Sequence[str]) -> set[str]:
    (repository / ".gitignore").write_text("\n".join(lines) + "\n")
    git = subprocess.run(
        ["git", "-C", str(repository), "check-ignore", "--no-index", "--stdin", "-z"],
        input="\0".join(asked).encode(),
        stdout=subprocess.PIPE,
        env=environment(repository),
        check=False,
    )
    assert git.returncode in (0, 1)
    return {path for path in git.stdout.decode().split("\0") if path}


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(patterns, max_size=5), st.lists(paths, min_size=1, max_size=12, unique=True))
def test_patterns_hide_the_same_paths_as_git(repository: Path, lines: list[str], asked: list[str]) -> None:
    rules = Patterns("\n".join(lines).split("\n"))
    assert {path for path in asked if rules.hides(path)} == hidden_by_git(repository, lines, asked)
