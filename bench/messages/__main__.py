"""`python -m bench.messages`: play sets of messages, print what was told beside them, and fit the weights anew."""

from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.messages.fitting import KINDS, example, fitted, fitted_form, shares, wordings
from bench.messages.playing import HYBRID, SETS, WORDS, Played, played
from bench.regression import write_table
from memoryd.config.paths import models_dir
from memoryd.domain.memories.unasked import form
from memoryd.models.store import ModelStore
from tests.daemon import STARTER

MODES = (WORDS, HYBRID)
LEAST_SETS = 3


@click.command()
@click.argument("sets", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--mode", "modes", multiple=True, type=click.Choice(MODES), default=MODES, show_default=True)
@click.option("--protocol", type=click.Path(path_type=Path), default="build/messages.jsonl", show_default=True)
@click.option("--read", "is_read", is_flag=True, help="Play nothing: read the protocol that is there.")
@click.option("--wrong", is_flag=True, help="Also print every message that was not answered right.")
@click.option("--fit", "is_fit", is_flag=True, help="Fit the weights anew, and write those of wording.")
@click.option("--needed", default=2.0, show_default=True, help="How much what is needed counts beside what is not.")
def main(
    sets: Sequence[Path], modes: Sequence[str], protocol: Path, is_read: bool, wrong: bool, is_fit: bool, needed: float
) -> None:
    """Play these sets, folders of the form of those in bench/messages/sets: all of them where none is given."""
    if not is_read:
        model = ModelStore(models_dir()).locate(STARTER)
        if model is None and HYBRID in modes:
            raise click.UsageError(f"the model is not here: memoryctl models pull {STARTER}")
        protocol.parent.mkdir(parents=True, exist_ok=True)
        pairs = list(product(modes, sets or sorted(SETS.iterdir())))
        with protocol.open("wb") as file:
            for mode, root in track(pairs, "playing", console=Console(stderr=True)):
                for one in played(root, model if mode == HYBRID else None):
                    file.write(msgspec.json.encode(one) + b"\n")
    every = [msgspec.json.decode(line, type=Played) for line in protocol.read_bytes().splitlines()]
    console = Console(width=150)
    console.print(_table(every))
    for one in every if wrong else ():
        if not one.is_right:
            console.print(f"{one.of} {one.text}\n  wanted {one.want}, told {one.told}", highlight=False, markup=False)
    if is_fit:
        _fit(console, every, needed)


def _table(every: Sequence[Played]) -> Table:
    table = Table()
    for column in ("", "need nothing", "told nothing", "items", "need something", "told all of it", "items"):
        table.add_column(column)
    for mode in dict.fromkeys(one.mode for one in every):
        some = [one for one in every if one.mode == mode]
        for name in dict.fromkeys(one.of for one in some):
            table.add_row(f"{name}, {mode}", *_figures(one for one in some if one.of == name))
        for lang in sorted({one.lang for one in some}):
            table.add_row(f"{lang}, {mode}", *_figures(one for one in some if one.lang == lang))
        table.add_row(f"all, {mode}", *_figures(some), end_section=True)
    return table


def _figures(some: Iterable[Played]) -> list[str]:
    some, figures = list(some), list[str]()
    for group in ([one for one in some if not one.want], [one for one in some if one.want]):
        count = max(1, len(group))
        right, items = sum(one.is_right for one in group), sum(len(one.told) for one in group)
        figures += [str(len(group)), f"{right / count:.3f}", f"{items / count:.2f}"]
    return figures


def _fit(console: Console, every: Sequence[Played], needed: float) -> None:
    """Print what new weights do for each set that they were not fitted on, and write those of all."""
    messages = wordings(every)
    names = list(dict.fromkeys(one.of for one in every))
    if len(names) < LEAST_SETS or {one.mode for one in every} != set(MODES):
        raise click.UsageError("weights are fitted on all the sets, played in both modes")
    table = Table()
    for column in ("left out", *(f"{mode}: told {what}" for mode in MODES for what in ("nothing", "all"))):
        table.add_column(column)
    for name in track(names, "fitting", console=Console(stderr=True)):
        # neither the set that is left out nor the one that is weighed has a part in the weights of wording
        forms = {other: fitted_form([one for one in messages if one.source not in (name, other)]) for other in names}
        examples = [(one, example(one, forms[one.of])) for one in every]
        weights = fitted([taught for one, taught in examples if one.of != name], needed)
        held = [[taught for one, taught in examples if (one.of, one.mode) == (name, mode)] for mode in MODES]
        table.add_row(name, *(f"{share:.3f}" for some in held for share in shares(some, weights)))
    forms = {name: fitted_form([one for one in messages if one.source != name]) for name in names}
    examples = [(one, example(one, forms[one.of])) for one in every]
    console.print(table)
    console.print(f"{write_table(fitted_form(messages), Path(form.__file__))} features of wording")
    weights = fitted([taught for _, taught in examples], needed)
    console.print({name: round(float(one), 2) for name, one in zip(KINDS, weights, strict=True)})


if __name__ == "__main__":
    main()
