"""docs/explanation/why-recalled.md names exactly the reasons why something is not found or recalled."""

import re
from pathlib import Path

from memoryd.cli.memory.search import WHY
from memoryd.domain.skips import SkipReason

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "why-recalled.md"
CODES = {reason.code for reason in SkipReason if reason.stage in ("search", "recall")}


def keys_of_page() -> set[str]:
    """Return the codes in the first cells of the page's tables."""
    rows = [line.split("|")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return {key for cell in rows for key in re.findall(r"`([a-z_]+)`", cell)}


def test_each_reason_has_its_row() -> None:
    assert keys_of_page() >= CODES


def test_page_names_no_other_reason() -> None:
    assert keys_of_page() - CODES == set()


def test_explained_answers_readme_and_doctor_refer_to_the_page() -> None:
    assert PAGE.relative_to(ROOT).as_posix() in WHY
    for file in ("README.md", "memoryd/cli/checks/index.py"):
        assert "docs/explanation/why-recalled.md" in (ROOT / file).read_text(encoding="utf-8"), file
