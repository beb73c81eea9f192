"""The changelog, the program and its package have the same version."""

import tomllib
from pathlib import Path

import pytest

from memoryd import __version__
from tests.changelog import CHANGELOG, releases

ROOT = Path(__file__).parents[2]


def test_newest_release_is_this_version() -> None:
    assert releases()[0].version == __version__


def test_version_is_written_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"] == {"path": "memoryd/__init__.py"}


def test_every_heading_is_a_release_newest_first() -> None:
    headings = [line for line in CHANGELOG.read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
    found = [tuple(map(int, release.version.split("."))) for release in releases()]
    assert len(found) == len(headings)
    assert found == sorted(set(found), reverse=True)


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("## 1.2.0 (2026-11-23)", [("1.2.0", "2026-11-23")]),
        ("## 1.2.0 (unreleased)", [("1.2.0", "")]),
        ("## 1.2.0", [("1.2.0", "")]),
        ("## Unreleased", []),
        ("### 1.2.0", []),
        ("## 1.2.0 (soon)", []),
    ],
)
def test_heading_of_a_release(heading: str, expected: list[tuple[str, str]]) -> None:
    assert releases(f"# Changelog\n\n{heading}\n\n- a thing\n") == expected
