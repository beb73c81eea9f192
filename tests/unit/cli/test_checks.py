"""Every check of doctor belongs to a listed section; help and documentation list exactly these."""

import re
from importlib import import_module

import click

from memoryd.cli.checks.finding import REGISTERED
from memoryd.cli.local.doctor import SECTIONS, checks, doctor_command
from tests.docs.troubleshooting import page
from tests.package_trees import TREES

IDS = [check.id for check in checks()]


def test_every_check_is_shown_once() -> None:
    for file in TREES:
        if file.startswith("cli/checks/"):
            import_module(f"memoryd.{file.removesuffix('.py').replace('/', '.')}")
    assert sorted(check.id for check in REGISTERED) == sorted(IDS)
    assert len(set(IDS)) == len(IDS)
    assert [check.id for check in REGISTERED if not (check.title and check.subject and check.advice)] == []


def test_sections_are_those_of_the_checks() -> None:
    assert list(dict.fromkeys(check.section for check in checks())) == list(SECTIONS)
    for check in checks():
        assert check.run.__module__ == f"memoryd.cli.checks.{SECTIONS[check.section]}"
    assert [check.section for check in checks(["hooks", "disk"])] == ["disk", "hooks", "hooks"]
    (choice,) = (param.type for param in doctor_command.params if param.name == "sections")
    assert isinstance(choice, click.Choice)
    assert list(choice.choices) == list(SECTIONS)


def test_page_lists_exactly_the_checks() -> None:
    text = page()
    assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == list(SECTIONS)
    assert re.findall(r"^\| `(\w+\.\w+)` \|", text, re.MULTILINE) == IDS
