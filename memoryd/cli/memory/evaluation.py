"""memoryctl eval: measure search with golden questions about the user's own notes, and compare configurations."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

import click
import msgspec
from msgspec import Struct, to_builtins

from memoryd.cli.golden import (
    GOLDEN_FILE,
    DocumentTexts,
    Evaluation,
    LocatedQuestion,
    agent_to_evaluate,
    ask,
    golden_file,
    golden_set,
    golden_text,
    located_questions,
    wait_for_index,
)
from memoryd.cli.invocation import Invocation, argument, exit_code_of, flag, timeout_option, with_invocation
from memoryd.cli.terminal import count, harmless_line, minute, note, style
from memoryd.domain.ranking.golden import (
    FOUND_RANK,
    GoldenLine,
    QuestionResult,
    RankChange,
    RankingScores,
    accept_lines,
    changes,
    fold,
    golden_line,
    parse_golden,
)
from memoryd.errors import InvalidRequest
from memoryd.replies.status import AgentStatus
from memoryd.wire import LISTED_MAX, Exit

RUN_SUFFIX = "-eval.json"
"""The file name of the index plus this suffix is the file of the last run."""
SUGGESTED = 20
SHOWN_QUESTION = 70
NO_QUESTIONS = (
    "there are no golden questions yet: memoryctl eval suggest proposes some, or write a line into "
    f'{GOLDEN_FILE}: {{"question": "…", "expect": ["memory/house.md#L7"]}}'
)


class LastRun(Struct, frozen=True):
    """The results of the last run, by a hash of the text of each question; `at` is in ISO 8601."""

    at: str
    results: dict[str, QuestionResult]


@click.group("eval")
def eval_command() -> None:
    """Ask golden questions, whose answers you know, and measure how well they are answered."""


@eval_command.command("run")
@timeout_option
@with_invocation
def run(invocation: Invocation, timeout: float) -> Exit:
    """Ask all golden questions; show recall, verdicts, times, and what changed since the last run.

    Guesses are asked too, and are counted separately until they are accepted.
    """
    agent = agent_to_evaluate(invocation)
    golden = golden_set(agent)
    wait_for_index(invocation, timeout)
    questions, wrong = located_questions(golden.lines, DocumentTexts(invocation.memory, agent["id"]))
    evaluation = ask(invocation.memory, agent["id"], questions, "asking")
    last = _last_run(agent)
    before = last.results if last else {}
    rank_changes = changes(
        {text: before[key] for text in evaluation.results if (key := _digest(text)) in before}, evaluation.results
    )
    problems = [*golden.problems, *wrong]
    reply = _reply(agent, questions, evaluation, problems)
    reply |= {"since": last.at if last else None, "changed": to_builtins(rank_changes)}
    if questions:
        _save_run(agent, evaluation.results)
    else:
        note(NO_QUESTIONS)
    since = f"since the last run, {minute(last.at)}" if last else ""
    lines = [*_table(_columns(questions, evaluation)), *_times(evaluation), *_miss_lines(questions, evaluation)]
    return invocation.show(
        reply,
        [*lines, *_change_lines(rank_changes, since)] if questions else [],
        _problem_notes(problems),
        code=exit_code_of(questions),
    )


@eval_command.command("suggest")
@click.option(
    "-k", "--limit", type=click.IntRange(1, LISTED_MAX), default=SUGGESTED, show_default=True, help="How many at most."
)
@with_invocation
def suggest(invocation: Invocation, limit: int) -> Exit:
    """Add guesses to the golden questions, from your past questions, memories and headings.

    A guess counts only after you accept it: see `memoryctl eval accept`.
    """
    # imported here: it loads the parser of notes, which no other command of this module needs
    from memoryd.cli.local.variant import suggestions

    agent = agent_to_evaluate(invocation)
    before = golden_text(agent)
    known = [line.golden.question for line in parse_golden(before).lines]
    guesses = suggestions(invocation, agent, known, limit)
    text = before + "\n" * bool(before and not before.endswith("\n"))
    text += "".join(f"{golden_line(guess)}\n" for guess in guesses)
    if guesses:
        _write(agent, text)
    new = {fold(guess.question) for guess in guesses}
    added = [line for line in parse_golden(text).lines if fold(line.golden.question) in new]
    hint = f"look through them, then: memoryctl eval accept N…; edit or delete the others in {golden_file(agent)}"
    note_text = hint if added else "nothing new was found to ask"
    return invocation.show(list(map(_line_reply, added)), map(_line, added), [note_text], code=exit_code_of(added))


@eval_command.command("accept")
@argument("numbers", nargs=-1, type=click.IntRange(1), metavar="N…", help="The lines of guesses, by their numbers.")
@flag("--all", "is_all", help="Accept every guess.")
@with_invocation
def accept(invocation: Invocation, numbers: tuple[int, ...], is_all: bool) -> Exit:
    """Accept guesses as golden questions; without N or --all list the guesses."""
    agent = agent_to_evaluate(invocation)
    text = golden_text(agent)
    guesses = {line.number: line for line in parse_golden(text).lines if line.golden.status == "guess"}
    if not numbers and not is_all:
        rows = list(guesses.values())
        return invocation.show(list(map(_line_reply, rows)), map(_line, rows), ["there is no guess"] * (not rows))
    if unknown := sorted(set(numbers) - guesses.keys()):
        raise InvalidRequest(
            f"{golden_file(agent)}: line {unknown[0]} holds no guess", hint="memoryctl eval accept lists the guesses"
        )
    chosen = sorted(guesses) if is_all else sorted(set(numbers))
    if chosen:
        _write(agent, accept_lines(text, chosen))
    return invocation.show({"accepted": chosen}, [f"{count(len(chosen), 'question')} accepted"])


@eval_command.command("compare")
@click.option(
    "--with",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="A key of memorySearch and its value in the variant, such as chunking.tokens=200; repeatable. Without it the "
    "variant is the present configuration file.",
)
@with_invocation
def compare(invocation: Invocation, overrides: tuple[str, ...]) -> Exit:
    """Ask the golden questions of the present configuration and of a variant; nothing in use changes.

    The variant gets a temporary index beside the one in use. Vectors are copied where text and model are the same.
    """
    # imported here: it loads the store, which no other command of this module needs
    from memoryd.cli.local import variant

    agent = agent_to_evaluate(invocation)
    compared = variant.compare(invocation, agent, variant.parse_changes(overrides))
    now, then = compared.scores
    columns = {"now": now, "variant": then}
    reply = {
        "agent": agent["id"],
        "with": list(overrides),
        "now": _reply(agent, compared.questions, compared.now, compared.problems),
        "variant": _reply(agent, compared.questions, compared.variant, compared.problems),
        "changed": to_builtins(compared.changes),
        "regression": then.falls_below(now),
    }
    evaluations = {"now": compared.now, "variant": compared.variant}
    lines = [*_table(columns), *(f"{name}: {line}" for name, result in evaluations.items() for line in _times(result))]
    verdict = style("worse", colour="red") if then.falls_below(now) else "not worse"
    lines += [*_change_lines(compared.changes, "by the variant"), f"accepted questions: {verdict}"]
    return invocation.show(reply, lines, _problem_notes(compared.problems))


def _reply(
    agent: AgentStatus, questions: Sequence[LocatedQuestion], evaluation: Evaluation, problems: Sequence[str]
) -> dict[str, object]:
    median, late = evaluation.percentiles
    return {
        "agent": agent["id"],
        "file": str(golden_file(agent)),
        "scores": to_builtins(_columns(questions, evaluation)),
        "latencyMs": {
            "p50": round(median, 2),
            "p95": round(late, 2),
            "arms": {arm: round(mean, 2) for arm, mean in evaluation.arm_ms.items()},
        },
        "missed": _missed_questions(questions, evaluation),
        "problems": list(problems),
    }


def _columns(questions: Sequence[LocatedQuestion], evaluation: Evaluation) -> dict[str, RankingScores]:
    texts = {
        "accepted": [question.text for question in questions if question.is_accepted],
        "guesses": [question.text for question in questions if not question.is_accepted],
    }
    return {name: evaluation.scores_of(chosen) for name, chosen in texts.items() if chosen}


def _table(columns: Mapping[str, RankingScores]) -> Iterator[str]:
    yield f"{'':10} {'questions':>9} {'R@1':>6} {'R@5':>6} {'MRR':>6} {'verdict':>8}"
    for name, row in columns.items():
        figures = (row.recall_at1, row.recall_at5, row.mrr)
        shown = " ".join(f"{_figure(value):>6}" for value in figures)
        yield f"{name:10} {row.questions:>9} {shown} {_figure(row.verdict_accuracy):>8}"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _times(evaluation: Evaluation) -> Iterator[str]:
    median, late = evaluation.percentiles
    arms = "".join(f", {arm} {mean:.1f} ms" for arm, mean in evaluation.arm_ms.items())
    yield f"an answer took {median:.1f} ms, one in twenty {late:.1f} ms or more{arms}"


def _missed_questions(questions: Sequence[LocatedQuestion], evaluation: Evaluation) -> list[str]:
    """Return the accepted questions whose answer is not among the first hits, or whose verdict is wrong."""
    accepted = [(question.text, evaluation.results[question.text]) for question in questions if question.is_accepted]
    return [
        text
        for text, result in accepted
        if not result.has_right_verdict or (not result.stranger and (result.rank is None or result.rank > FOUND_RANK))
    ]


def _miss_lines(questions: Sequence[LocatedQuestion], evaluation: Evaluation) -> Iterator[str]:
    missed = _missed_questions(questions, evaluation)
    if missed:
        yield "\nnot found, or wrongly judged:"
    for text in missed:
        yield f"  {_result(evaluation.results[text]):>16}  {_question(text)}"


def _change_lines(rank_changes: Sequence[RankChange], when: str) -> Iterator[str]:
    if when:
        yield f"\nchanged {when}:" if rank_changes else f"\nnothing changed {when}"
    for change in rank_changes:
        mark = style("worse ", colour="red") if change.is_worse else style("better", colour="green")
        yield f"  {mark}  {_result(change.before)} → {_result(change.after)}  {_question(change.question)}"


def _result(result: QuestionResult) -> str:
    """Return the rank and the verdict; for a stranger (a question without an answer) the verdict alone."""
    if result.stranger:
        return result.verdict
    return f"{'–' if result.rank is None else result.rank} {result.verdict}"


def _question(text: str) -> str:
    line = harmless_line(text)
    return line if len(line) <= SHOWN_QUESTION else f"{line[: SHOWN_QUESTION - 1]}…"


def _problem_notes(problems: Sequence[str]) -> Iterator[str]:
    return (f"{GOLDEN_FILE}: {problem}" for problem in problems)


def _line(line: GoldenLine) -> str:
    places = " or ".join(map(str, line.golden.places)) or "nothing"
    return f"{line.number:>4}  {_question(line.golden.question)}  →  {harmless_line(places)}"


def _line_reply(line: GoldenLine) -> dict[str, object]:
    return {"line": line.number, **to_builtins(line.golden)}


def _write(agent: AgentStatus, text: str) -> None:
    # imported here: it loads memoryd.files, which only two commands need
    from memoryd.cli.written_file import rewrite

    rewrite(golden_file(agent), text)


def _run_file(agent: AgentStatus) -> Path:
    index = Path(agent["database"]["path"])
    return index.with_name(index.name + RUN_SUFFIX)


def _digest(question: str) -> str:
    return blake2b(fold(question).encode(), digest_size=8).hexdigest()


def _last_run(agent: AgentStatus) -> LastRun | None:
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(_run_file(agent).read_bytes(), type=LastRun)
    return None


def _save_run(agent: AgentStatus, results: Mapping[str, QuestionResult]) -> None:
    from memoryd.cli.written_file import rewrite

    last = LastRun(datetime.now(UTC).isoformat(), {_digest(text): result for text, result in results.items()})
    rewrite(_run_file(agent), msgspec.json.encode(last).decode())
