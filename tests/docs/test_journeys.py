"""What HACKING.md names is in the code, under that name and in that file."""

import ast
import re
from pathlib import Path

import pytest

from tests.docs.shown import ROOT

HACKING = (ROOT / "HACKING.md").read_text(encoding="utf-8")
PLACE = re.compile(r"`([\w/]+\.py)(?::([\w.]+))?`")
JOURNEYS = re.search(r"^## Journeys\n(.*?)^## ", HACKING, re.DOTALL | re.MULTILINE)


def names_in(path: str) -> set[str]:
    """Return the names that a module gives, those of a class also behind its own."""
    file = next(one for one in (ROOT / path, ROOT / "memoryd" / path) if one.exists())
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            found.add(ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target))
        if isinstance(node, ast.ClassDef):
            members = [
                one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.AnnAssign)
            ]
            named = [ast.unparse(one.target) if isinstance(one, ast.AnnAssign) else one.name for one in members]
            found |= {f"{node.name}.{name}" for name in named}
    return found


@pytest.mark.parametrize(("path", "name"), sorted(set(PLACE.findall(HACKING))))
def test_place_exists(path: str, name: str) -> None:
    names = names_in(path)
    assert not name or name in names


def test_journeys_have_at_most_ten_stops() -> None:
    assert JOURNEYS
    counts = [len(re.findall(r"^\d+\. ", part, re.MULTILINE)) for part in re.split(r"^1\. ", JOURNEYS[1], flags=re.M)]
    assert len(counts) > 6
    assert max(counts) + 1 <= 10


def test_every_room_stands_in_the_table() -> None:
    table = HACKING.partition("## Rooms")[2].partition("Tests hold these laws")[0]
    rooms = {path.parent.relative_to(ROOT / "memoryd") for path in (ROOT / "memoryd").rglob("*.py")} - {Path()}
    assert [str(room) for room in sorted(rooms) if f"{room.name}/`" not in table] == []
    assert [one.stem for one in (ROOT / "memoryd").glob("[a-z]*.py") if f"`{one.stem}`" not in table] == []


def test_readme_and_tutorial_agree_on_how_long_it_takes() -> None:
    tutorial = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    (promised,) = re.findall(r"an agent that remembers, in (.+?) \|", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert tutorial.splitlines()[2].lower().startswith(f"{promised}:")
