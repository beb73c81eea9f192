"""`python -m bench.recall_questions`: ask the questions about memories, print tables, and write JSON if asked to."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from bench.recall_questions.asking import MODES, ask
from bench.recall_questions.judged import Judged, RecallFigures, by_type
from bench.recall_questions.question_set import SETS, STRANGER, recall_questions
from memoryd.config.paths import models_dir
from memoryd.models.store import ModelStore
from tests.daemon import STARTER


@click.command()
@click.option("--mode", "modes", multiple=True, type=click.Choice(MODES), help="Only this one.")
@click.option("--set", "name", type=click.Choice(list(SETS)), default="own", help="Which questions.")
@click.option("--misses", is_flag=True, help="Also show what came instead of the right citation.")
@click.option("--only", default="", help="Only questions whose id begins so.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Also write all figures here.")
def main(modes: Sequence[str], name: str, misses: bool, only: str, path: Path | None) -> None:
    """Put the questions about memories of tests/data to the real daemon and print how well they are answered."""
    console = Console(width=150)
    asked = [one for one in recall_questions(SETS[name]) if one.id.startswith(only)]
    document = {}
    for mode in modes or MODES:
        judged = ask(asked, mode, _model() if mode == "hybrid" else None)
        groups = by_type(judged)
        console.print(_table(mode, groups))
        document[mode] = {name: asdict(one) for name, one in groups.items()}
        for one in judged if misses else []:
            _show(console, one)
    if path:
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _model() -> Path:
    path = ModelStore(models_dir()).locate(STARTER)
    if path is None:
        raise click.UsageError(f"the model is not here: memoryctl models pull {STARTER}")
    return path


def _table(mode: str, groups: Mapping[str, RecallFigures]) -> Table:
    table = Table()
    columns = (mode, "n", "first", "three", "ten", "of five", "old first", "believed", "never told")
    for column in (*columns, "answ.", "weak", "none"):
        table.add_column(column)
    for name, one in groups.items():
        shares = (one.first, one.three, one.found, one.of_five, one.old, one.believed)
        shown = ("" if share is None else f"{share:.2f}" for share in shares)
        counts = (one.told_never, one.answerable, one.weak, one.none)
        table.add_row(name, str(one.questions), *shown, *map(str, counts))
    return table


def _show(console: Console, one: Judged) -> None:
    question = one.question
    is_wrong = (
        one.answer.verdict == "answerable" if question.type == STRANGER else bool(question.gold) and not one.is_first
    )
    if is_wrong or one.lacks or one.tells_never or (question.change and not one.is_old_first):
        old = "" if question.change is None else f", old first: {one.is_old_first}"
        head = f"{question.id} {question.text} {dict(question.options) or ''} → {one.place}, {one.answer.verdict}{old}"
        console.print(
            f"{head} {one.lacks or ''} {'TELLS NEVER' if one.tells_never else ''}", highlight=False, style="bold"
        )
        for item in one.ranked(one.answer)[:3]:
            console.print(
                f"    {item.cited.path}#L{item.cited.first}  {item.content[:100]!r}", highlight=False, markup=False
            )
        for item in one.ranked(one.then)[:1] if one.then and not one.is_old_first else ():
            console.print(
                f"    then {item.cited.path}#L{item.cited.first} {item.content[:100]!r}", highlight=False, markup=False
            )


if __name__ == "__main__":
    main()
