"""Which tests are for one worker.

The real qmd takes as much of the machine as it can get, and mounts are the machine's. What a module starts, parses or
compiles once would be done once by each worker. All other tests go to whoever is free, so that none is left with a
long file; what takes no daemon is no long file, and xdist looks through all that it gave away whenever it gives one
away. It gives away groups first, those of most tests before the others.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

PARTS = {"test_schemathesis": 8, "test_editors": 2, "test_answers": 2}
"""In how many groups the tests of a long module are cut: its daemon takes seconds, its tests minutes."""
SHORT = frozenset({"unit", "store", "integration"})
"""Folders whose modules are each for one worker: thousands of tests of milliseconds."""

TOGETHER = {
    **dict.fromkeys(("test_layering", "test_names", "test_house"), "trees"),
    **dict.fromkeys(("test_skips", "test_remembered_texts", "test_hosts"), "trees"),
    **dict.fromkeys(("test_fault_catalogue", "test_visible_checks"), "trees of tests"),
    **dict.fromkeys(("test_bundle_shapes", "test_agent_loops"), "clients"),
}
"""Modules of which the first test parses or imports for seconds what the others use."""


def grouped(items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, str]]:
    """Yield each test that is for one worker with the others of its group."""
    named = [(item, group) for item in items if (group := _group(item))]
    sizes = Counter(group for _, group in named)
    seen: Counter[str] = Counter()
    for item, group in named:
        parts = PARTS.get(group, 1)
        # in the order of the file: what is next to each other has more in common
        part = seen[group] * parts // sizes[group]
        seen[group] += 1
        yield item, f"{group}-{part + 1}" if parts > 1 else group


def _group(item: pytest.Item) -> str:
    if item.path.parent.name == "system" and item.path.name.startswith("test_qmd"):
        return "qmd"
    if item.get_closest_marker("root"):
        return "root"
    if item.path.stem in TOGETHER:
        return TOGETHER[item.path.stem]
    if item.path.relative_to(TESTS).parts[0] in SHORT:
        return item.path.relative_to(TESTS).with_suffix("").as_posix()
    names = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    ours = (found[-1] for found in names.values() if found[-1].baseid.startswith("tests"))
    return item.path.stem if any(found.scope == "module" for found in ours) else ""
