"""The names and files in HACKING.md exist in the code."""

import ast
import re
from pathlib import Path

import pytest

from tests.docs.shown import ROOT

HACKING = (ROOT / "HACKING.md").read_text(encoding="utf-8")
PLACE = re.compile(r"`([\w/]+\.py)(?::([\w.]+))?`")
JOURNEYS = re.search(r"^## Journeys\n(.*?)^## ", HACKING, re.DOTALL | re.MULTILINE)


def names_in(path: str) -> set[str]:
    """Return the names that a module defines, and the members of its classes as `Class.member`."""
    file = next(file for file in (ROOT / path, ROOT / "memoryd" / path) if file.exists())
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            found.add(ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target))
        if isinstance(node, ast.ClassDef):
            members = [
                part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.AnnAssign)
            ]
            named = [ast.unparse(part.target) if isinstance(part, ast.AnnAssign) else part.name for part in members]
            found |= {f"{node.name}.{name}" for name in named}
    return found


@pytest.mark.parametrize(("path", "name"), sorted(set(PLACE.findall(HACKING))))
def test_place_exists(path: str, name: str) -> None:
    names = names_in(path)
    assert not name or name in names


def test_journeys_have_at_most_ten_steps() -> None:
    assert JOURNEYS
    counts = [len(re.findall(r"^\d+\. ", part, re.MULTILINE)) for part in re.split(r"^1\. ", JOURNEYS[1], flags=re.M)]
    assert len(counts) > 6
    assert max(counts) + 1 <= 10


def test_every_room_is_in_the_table() -> None:
    table = HACKING.partition("## Rooms")[2].partition("Tests check these rules")[0]
    rooms = {path.parent.relative_to(ROOT / "memoryd") for path in (ROOT / "memoryd").rglob("*.py")} - {Path()}
    assert [str(room) for room in sorted(rooms) if f"{room.name}/`" not in table] == []
    assert [file.stem for file in (ROOT / "memoryd").glob("[a-z]*.py") if f"`{file.stem}`" not in table] == []


def test_readme_and_tutorial_promise_the_same_time() -> None:
    tutorial = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    (promised,) = re.findall(r"an agent that remembers, in (.+?) \|", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert tutorial.splitlines()[2].lower().startswith(f"{promised}:")
