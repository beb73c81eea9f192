"""The version bounds of the package include the tested versions, and are narrow for used internals."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
INTERNALS_USED = {"h11", "uvicorn"}
"""Packages whose internals are used, subclassed or rewritten: another minor version may break them."""


def requirements() -> Mapping[str, Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extra = [line for lines in project["optional-dependencies"].values() for line in lines]
    return {canonicalize_name(found.name): found for found in map(Requirement, [*project["dependencies"], *extra])}


def pinned() -> Mapping[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = (line.split("==", 1) for line in lines if "==" in line)
    return {canonicalize_name(name): version for name, version in pins}


def test_tested_versions_are_within_the_bounds() -> None:
    versions = pinned()
    for name, requirement in requirements().items():
        assert requirement.specifier.contains(versions[name]), name


def test_bound_of_used_internals_is_the_tested_minor_version() -> None:
    versions = pinned()
    for name in INTERNALS_USED:
        major, minor, *_ = map(int, versions[name].split("."))
        assert not requirements()[name].specifier.contains(f"{major}.{minor + 1}.0"), name


def test_every_dependency_is_installed_on_every_system() -> None:
    assert [name for name, requirement in requirements().items() if requirement.marker] == []
