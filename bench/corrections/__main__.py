"""`python -m bench.corrections`: tell the sets to the real daemon, and print what is told after what was corrected."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.corrections.playing import SETS, Played, played
from memoryd.config.paths import models_dir
from memoryd.models.store import ModelStore
from tests.daemon import STARTER


@click.command()
@click.argument("sets", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--mode", type=click.Choice(["words", "hybrid"]), default="words", show_default=True)
@click.option("--wrong", "shows_wrong", is_flag=True, help="Also print every scenario that did not end right.")
def main(sets: Sequence[Path], mode: str, shows_wrong: bool) -> None:
    """Play these sets, folders of the form of those in bench/corrections/sets: all of them where none is given."""
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
