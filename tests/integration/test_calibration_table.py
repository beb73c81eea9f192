"""`make calibrate`: the verdicts of the real search, by vector space."""

from pathlib import Path

from click.testing import CliRunner

from bench.retrieval.calibration import RANDOM, WORDS, main

OWN_SETS = Path(__file__).parents[1] / "data" / "retrieval"
ASKED = ["--questions=4", "--size=5"]


def test_random_weights_are_narrow_and_remove_no_answers() -> None:
    """In a narrow space where vectors mean nothing, matches by words are still found."""
    models = [f"--model={RANDOM}", f"--model={WORDS}"]
    run = CliRunner().invoke(main, ["literals", f"--sets={OWN_SETS}", *ASKED, *models], catch_exceptions=False)

    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in run.stdout.splitlines() if "│" in line]
    [(name, _, _, narrow, _, _, clear)] = [row for row in rows if len(row) == 7]
    assert (name, narrow, clear) == (RANDOM, "yes", "no / no")
    answerable = {row[0]: int(row[2].split("/")[0]) for row in rows if row[0] in (RANDOM, WORDS) and len(row) == 3}
    assert answerable[RANDOM] >= answerable[WORDS] > 0
