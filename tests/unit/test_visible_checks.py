"""Each test has a visible check, and no test module hides another."""

import ast
from collections import Counter

from tests.fault.coverage import TESTS, functions_of

HELPERS = {"raises", "soon", "eventually", "eventually_async", "eventually_finds", "converges"}
"""Functions that fail a test, besides those named `assert_…`."""


def test_each_test_has_a_visible_check() -> None:
    found = [(path, test) for path in sorted(TESTS.rglob("test_*.py")) for test in functions_of(path)]
    assert len(found) > 1000
    assert [f"{path.relative_to(TESTS)}::{test.name}" for path, test in found if not _checks(test)] == []


def test_test_modules_have_distinct_names() -> None:
    # outside packages pytest knows a module only by its base name
    names = Counter(path.name for path in TESTS.rglob("test_*.py") if not (path.parent / "__init__.py").exists())
    assert len(names) > 100
    assert [name for name, times in names.items() if times > 1] == []


def test_test_without_a_check_is_recognised() -> None:
    for nothing in ("run()", "check.run(stage)", "try: run()\n    except ValueError: return"):
        assert not _checks(ast.parse(f"def test_a():\n    {nothing}"))
    for check in ("assert run()", "with pytest.raises(ValueError): run()", "stage.converges()", "assert_sound(run())"):
        assert _checks(ast.parse(f"def test_a():\n    {check}"))


def _checks(test: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and _fails(node.func)) for node in ast.walk(test)
    )


def _fails(called: ast.expr) -> bool:
    match called:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in HELPERS or name.startswith("assert_")
    return False
