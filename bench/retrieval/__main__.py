"""`python -m bench.retrieval`: how well the answers to sets of questions are ranked, beside an earlier time."""

import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from bench.retrieval.answers import record
from bench.retrieval.asking import MODES, Asking, ask
from bench.retrieval.baseline import BASELINE, Baseline, has_dropped, load, save
from bench.retrieval.figures import ALL, Figures, Judged, by_category
from bench.retrieval.homes import kept_home
from bench.retrieval.longmemeval import longmemeval_set
from bench.retrieval.sets import QuestionSet, question_sets
from bench.retrieval.tables import table_of
from memoryd.config.paths import cache_dir, models_dir
from memoryd.models.store import ModelStore
from tests.daemon import STARTER

WIDTH = 180
"""Of the tables, in columns, where no terminal says otherwise."""

OWN_SETS = Path(__file__).parents[2] / "tests" / "data" / "retrieval"

Found = dict[str, dict[str, dict[str, Figures]]]
"""Set → mode → `all`, `strangers` or a category → figures."""

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--sets", type=_PATH, envvar="MEMORYD_BENCH", help="Folder of more sets [$MEMORYD_BENCH].")
@click.option("--longmemeval", type=_PATH, help="File longmemeval_s.json: only its questions are asked.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1), help="So many questions of that file.")
@click.option("--model", default=STARTER, show_default=True, help="Model to embed with.")
@click.option("--mode", "modes", multiple=True, type=click.Choice(list(MODES)), help="Only these modes.")
@click.option("--threads", default=1, show_default=True, type=click.IntRange(1), help="Of the model.")
@click.option("--fresh", is_flag=True, help="Discard the kept indexes: read and embed everything anew.")
@click.option("--brief", is_flag=True, help="Leave out the categories.")
@click.option("--baseline", default=BASELINE, type=_PATH, help="File to compare with [bench/retrieval/baseline.json].")
@click.option("--save-baseline", is_flag=True, help="Write the figures into that file.")
@click.option("--strict", is_flag=True, help="Exit with 1 if R@5 of a set lost more than one question.")
@click.option("--json", "json_path", type=_PATH, help="Also write all figures here.")
@click.option("--answers", type=_PATH, help="Also write each answer here, as a line of JSON.")
def main(
    names: Sequence[str],
    sets: Path | None,
    longmemeval: Path | None,
    limit: int,
    model: str,
    modes: Sequence[str],
    threads: int,
    fresh: bool,
    brief: bool,
    baseline: Path,
    save_baseline: bool,
    strict: bool,
    json_path: Path | None,
    answers: Path | None,
) -> None:
    """Put sets of questions to the real daemon, ours and yours, and print how well the answers are ranked.

    Indexes are kept in the cache folder, so that the next run makes no vectors; notes are read anew where the code
    that reads them changed.
    """
    wanted = modes or list(MODES)
    path = _located(model, wanted)
    before = load(baseline)
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    found: Found = {}
    if answers:
        answers.write_text("")
    for questions in _sets(sets, longmemeval, limit, names):
        began = time.monotonic()
        judged = _run(questions, path, wanted, threads=threads, fresh=fresh)
        if answers:
            record(answers, questions.name, judged)
        found[questions.name] = {mode: by_category(rows) for mode, rows in judged.items()}
        console.print(table_of(questions.name, found[questions.name], before, in_full=not brief))
        console.print(f"{time.monotonic() - began:.0f} s\n", style="dim")
    if json_path:
        json_path.write_text(json.dumps(_plain(found), indent=1, ensure_ascii=False))
    if save_baseline:
        save(baseline, before, found)
    dropped = _dropped(found, before)
    for line in dropped:
        console.print(f"R@5 lost more than one question: {line}", style="red")
    sys.exit(1 if strict and dropped else 0)


def _sets(sets: Path | None, longmemeval: Path | None, limit: int, names: Sequence[str]) -> Iterable[QuestionSet]:
    if longmemeval is None:
        return question_sets([OWN_SETS, *([sets] if sets else [])], names)
    folder = cache_dir() / "evaluation" / "longmemeval"
    return [longmemeval_set(longmemeval, folder, limit, lambda rows: _watched(rows, "writing"))]


def _located(model: str, modes: Sequence[str]) -> Path | None:
    """Return the file of the model; None where words alone are asked."""
    if set(modes) == {"lexical"}:
        return None
    path = ModelStore(models_dir()).locate(model)
    if path is None:
        raise click.UsageError(f"the model is not here: memoryctl models pull {model}")
    return path


def _run(
    questions: QuestionSet, model: Path | None, modes: Sequence[str], *, threads: int, fresh: bool
) -> dict[str, list[Judged]]:
    found = {}
    click.echo(f"{questions.name}: {len(questions.questions)} questions", err=True)
    with kept_home(questions.folder, model.name if model else "", fresh=fresh) as home:
        for mode in modes:
            how = Asking(home.folder, model, threads=threads, anew=home.is_stale and mode == modes[0])
            found[mode] = ask(questions, mode, how, _watched)
            home.note_read()
    return found


def _watched(asked: Sequence[Any], what: str) -> Iterable[Any]:
    console = Console(stderr=True)
    return track(asked, what, console=console, transient=True, disable=not console.is_terminal)


def _plain(found: Found) -> dict[str, dict[str, dict[str, Mapping[str, float]]]]:
    return {
        name: {mode: {group: row.measures() for group, row in groups.items()} for mode, groups in modes.items()}
        for name, modes in found.items()
    }


def _dropped(found: Found, before: Baseline) -> list[str]:
    return [
        f"{name}, {mode}"
        for name, modes in found.items()
        for mode, groups in modes.items()
        if ALL in groups and has_dropped(before.of(name, mode, ALL), groups[ALL].measures())
    ]


if __name__ == "__main__":
    main()
