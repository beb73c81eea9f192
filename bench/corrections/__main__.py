"""`python -m bench.corrections`: tell the sets to the real daemon, and print what is told after what was corrected."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.corrections.fitting import FOLDS, fitted, judged, labelled, ordinary, strayed
from bench.corrections.playing import SETS, Played, played
from bench.regression import write_table
from memoryd.config.paths import models_dir
from memoryd.domain.memories.capture import outdating_weights
from memoryd.domain.memories.capture.renewal import OUTDATED
from memoryd.models.store import ModelStore
from tests.daemon import STARTER


@click.command()
@click.argument("sets", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--mode", type=click.Choice(["words", "hybrid"]), default="words", show_default=True)
@click.option("--wrong", "shows_wrong", is_flag=True, help="Also print every scenario that did not end right.")
@click.option("--fit", "is_fit", is_flag=True, help="First fit the weights of outdated lines anew, and write them.")
def main(sets: Sequence[Path], mode: str, shows_wrong: bool, is_fit: bool) -> None:
    """Play these sets, folders of the form of those in bench/corrections/sets: all of them where none is given."""
    if is_fit:
        _fit(Console(width=150))
    model = ModelStore(models_dir()).locate(STARTER) if mode == "hybrid" else None
    if mode == "hybrid" and model is None:
        raise click.UsageError(f"the model is not here: memoryctl models pull {STARTER}")
    found = {
        root.name: played(root, model)
        for root in track(sets or sorted(SETS.iterdir()), "playing", console=Console(stderr=True))
    }
    console = Console(width=150)
    console.print(_table(found))
    for name, some in found.items() if shows_wrong else ():
        for one in (one for one in some if not one.is_good):
            console.print(f"{name} {one.id} ({one.form})", *one.told, sep="\n  ", highlight=False, markup=False)


def _fit(console: Console) -> None:
    """Print what weights say of files that they were not fitted on, and write those of all."""
    messages = [*labelled(), *ordinary(), *strayed()]
    found = judged(track(range(FOLDS), "fitting", console=Console(stderr=True)), messages)
    table = Table("log-odds from", "outdated lines found", "of look-alikes, taken for one", "of ordinary messages")
    for least in (OUTDATED - 0.5, OUTDATED, OUTDATED + 0.5):
        right = [one.weight >= least and one.is_right for one in found if one.outdates]
        alike = [one.weight >= least for one in found if not (one.outdates or one.is_ordinary)]
        ordinary_ones = [one.weight >= least for one in found if one.is_ordinary]
        table.add_row(f"{least:.1f}", *(f"{sum(some) / len(some):.3f}" for some in (right, alike, ordinary_ones)))
    console.print(table)
    console.print(f"{write_table(fitted(messages), Path(outdating_weights.__file__))} features")


def _table(found: dict[str, list[Played]]) -> Table:
    table = Table()
    for column in ("", "scenarios", "captured", "good", "harm"):
        table.add_column(column)
    for name, some in found.items():
        corrections = [one for one in some if one.is_correction]
        forms = {
            form: [one for one in corrections if one.form == form] for form in sorted({o.form for o in corrections})
        }
        groups = {**forms, "corrections": corrections, "both hold": [one for one in some if not one.is_correction]}
        for group, those in groups.items():
            figures = (
                len(those),
                *(sum(getattr(one, of) for one in those) for of in ("is_captured", "is_good", "is_harm")),
            )
            table.add_row(f"{name}, {group}", *map(str, figures), end_section=group == "both hold")
    return table


if __name__ == "__main__":
    main()
