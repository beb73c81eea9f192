"""`python -m bench.retrieval`: recall, MRR and nDCG of each set by words, by vector and by both."""

import json
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.retrieval.scores import DEPTH, Scores, mean, score
from bench.retrieval.sets import Lines, Question, QuestionSet, question_sets
from memoryd.client import Client
from memoryd.config.paths import models_dir
from memoryd.models.store import ModelStore
from tests.daemon import STARTER, RunningDaemon, write_config

MODES: dict[str, dict[str, object]] = {
    "hybrid": {},
    "vector": {"query": {"hybrid": {"enabled": False}}},
    "lexical": {"provider": "none"},
}
"""What each mode lays over memorySearch. Hybrid comes first: it makes the vectors that the next one uses."""

WIDTH = 120
"""Of the tables, in columns, where no terminal says otherwise."""

Ranked = dict[str, dict[str, Scores]]
"""Mode → category (or `all`) → mean scores."""


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--sets", type=click.Path(path_type=Path), envvar="MEMORYD_BENCH", help="Folder of sets [$MEMORYD_BENCH]."
)
@click.option("--model", default=STARTER, show_default=True, help="Model to embed with.")
@click.option("--mode", "modes", multiple=True, type=click.Choice(list(MODES)), help="Only these modes.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Also write the figures here.")
def main(names: Sequence[str], sets: Path | None, model: str, modes: Sequence[str], json_path: Path | None) -> None:
    """Run question sets through the real daemon and print how well the answers are ranked."""
    if sets is None or not sets.is_dir():
        raise click.UsageError("no question sets: let MEMORYD_BENCH or --sets name a folder of them")
    path = ModelStore(models_dir()).locate(model)
    if path is None:
        raise click.UsageError(f"the model is not here: memoryctl models pull {model}")
    figures: dict[str, Ranked] = {}
    for questions in question_sets(sets, names):
        figures[questions.name] = _run(questions, path, modes or list(MODES))
        _print(_table(questions.name, figures[questions.name]))
    if json_path:
        plain = {
            name: {mode: {c: asdict(s) for c, s in rows.items()} for mode, rows in ranked.items()}
            for name, ranked in figures.items()
        }
        json_path.write_text(json.dumps(plain, indent=1, ensure_ascii=False))


def _run(questions: QuestionSet, model: Path, modes: Sequence[str]) -> Ranked:
    by_workspace: dict[str, list[Question]] = defaultdict(list)
    for question in questions.questions():
        by_workspace[question.workspace].append(question)
    found: dict[str, dict[str, list[Scores]]] = {mode: defaultdict(list) for mode in modes}
    for name, asked in by_workspace.items():
        with tempfile.TemporaryDirectory() as home:
            for mode in modes:
                _ask_all(questions.workspace(name), asked, Path(home), model, mode, found[mode])
    return {mode: {category: mean(rows) for category, rows in rows_of.items()} for mode, rows_of in found.items()}


def _ask_all(
    workspace: Path, asked: Sequence[Question], home: Path, model: Path, mode: str, found: dict[str, list[Scores]]
) -> None:
    sync = {"watch": False, "reconcileSeconds": 0, "onSearch": False}
    # the notes of a set lie wherever its data had them
    search = {"sync": sync, "extraPaths": ["."], **_settings(mode, model)}
    config = write_config(home, workspace, model, search=search)
    sizes = _sizes(workspace)
    with RunningDaemon(home, config, workspace, environment={"MEMORYD_LOG_LEVEL": "WARNING"}) as daemon:
        client = daemon.client(timeout=3600)
        if not client.sync(wait="indexed" if mode == "lexical" else "embedded", timeout_ms=3_600_000)["complete"]:
            raise click.ClickException(f"{workspace} was not indexed within an hour")
        for question in track(asked, f"{workspace.parent.parent.name}/{workspace.name} {mode}", transient=True):
            row = score(question, _hits(client, question.text, mode), sizes)
            found[question.category].append(row)
            found["all"].append(row)


def _settings(mode: str, model: Path) -> dict[str, object]:
    local = {"local": {"modelPath": str(model), "threads": os.cpu_count() or 1}}
    return MODES[mode] if mode == "lexical" else {**local, **MODES[mode]}


def _hits(client: Client, text: str, mode: str) -> list[Lines]:
    reply = client.search(text, max_results=DEPTH, deadline_ms=60_000)
    if reply["mode"] != mode:
        raise click.ClickException(f"asked for {mode}, answered {reply['mode']}: {reply['health']}")
    return [Lines(hit["path"], hit["startLine"], hit["endLine"]) for hit in reply["results"]]


def _sizes(workspace: Path) -> dict[str, list[int]]:
    return {
        path.relative_to(workspace).as_posix(): [len(line) + 1 for line in path.read_text("utf-8").split("\n")]
        for path in workspace.rglob("*.md")
    }


def _table(name: str, ranked: Ranked) -> Table:
    table = Table(title=name, title_justify="left")
    for column in ("mode", "category", *Scores.__dataclass_fields__):
        table.add_column(column.replace("_at_", "@"), justify="left" if column in ("mode", "category") else "right")
    for mode, rows in ranked.items():
        for category in sorted(rows, key=lambda key: (key != "all", key)):
            values = asdict(rows[category])
            figures = [f"{value:.0f}" if key == "chars_at_5" else f"{value:.3f}" for key, value in values.items()]
            table.add_row(mode if category == "all" else "", category, *figures)
    return table


def _print(table: Table) -> None:
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    console.print(table)


if __name__ == "__main__":
    main()
