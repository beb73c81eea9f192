"""memoryctl doctor: checks everything that memoryd needs, reports problems with advice, and repairs what is safe.

Works with and without a daemon. The checks are in `memoryd/cli/checks`. They run concurrently, each with a time limit:
a check that fails or hangs is one finding, and the others go on. A failed remedy does not stop the others.
"""

import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from importlib import import_module
from itertools import groupby
from threading import Thread
from typing import TypedDict

import click
from msgspec.structs import replace

from memoryd import log
from memoryd.cli.checks.finding import REGISTERED, CheckContext, DoctorCheck, Finding, FindingState, Remedy
from memoryd.cli.invocation import Invocation, flag, with_invocation
from memoryd.cli.terminal import count, harmless_line, is_terminal, style
from memoryd.errors import MemorydError
from memoryd.wire import Exit

DEEP_SECONDS = 600.0
"""Time limit of a check with --deep."""
SECTIONS: Mapping[str, str] = {
    "config": "config",
    "socket": "daemon",
    "daemon": "daemon",
    "permissions": "machine",
    "disk": "machine",
    "inotify": "machine",
    "watcher": "daemon",
    "notes": "index",
    "index": "index",
    "ledger": "index",
    "replaced": "index",
    "memories": "index",
    "machines": "machine",
    "queue": "daemon",
    "embedder": "models",
    "reranker": "models",
    "llm": "models",
    "qmd": "models",
    "team": "config",
    "http": "daemon",
    "clock": "machine",
    "service": "service",
    "hooks": "service",
}
"""Section → module with its checks, in the order of the output."""
COLOURS: Mapping[FindingState, str] = {
    "ok": "green",
    "off": "white",
    "open": "yellow",
    "look": "yellow",
    "wrong": "red",
}
_WOULD = "would "


class Fix(TypedDict):
    """The result of a remedy: `told` is what was done, or why it was not."""

    check: str
    fix: str
    done: bool
    told: str


@click.command("doctor")
@flag("--fix", help="Repair what is safe to repair, and say what was done.")
@flag("--dry-run", help="With --fix: say what would be done, and do nothing.")
@flag("--yes", "-y", help="With --fix: also fetch a model again without asking.")
@flag("--deep", help="Check every note and every database page, and try the model; takes minutes.")
@flag("--ask-providers", help="Also ask remote providers, which may cost some tokens.")
@click.option(
    "--section",
    "sections",
    multiple=True,
    type=click.Choice(tuple(SECTIONS)),
    help="Check only this part; may be given again.",
)
@click.option("--seconds", type=click.FloatRange(0.01, 86_400), help="How long a check may take (else its own limit).")
@flag("--verbose", "-v", help="Also show each check without a problem.")
@with_invocation
def doctor_command(
    invocation: Invocation,
    fix: bool,
    dry_run: bool,
    yes: bool,
    deep: bool,
    ask_providers: bool,
    sections: tuple[str, ...],
    seconds: float | None,
    verbose: bool,
) -> Exit:
    """Say what is missing, broken or open to others, and how to mend it.

    Exit codes: 0 nothing is wrong (there may be something to look at), 1 something is.
    """
    if dry_run and not fix:
        raise click.UsageError("--dry-run says what --fix would do: give both")
    log.configure("ERROR")  # unconfigured, structlog writes to stdout, where the answer goes
    begin = partial(CheckContext.begin, invocation, is_deep=deep, asks_providers=ask_providers)
    examine, print_lines = partial(_examine, seconds=seconds, is_verbose=verbose), partial(_print_lines, invocation)
    wanted = checks(sections or SECTIONS)
    findings, fixes = examine(wanted, begin()), list[Fix]()
    if fix:
        fixes = list(_fixes(findings, is_dry_run=dry_run, is_agreed=yes))
        print_lines(*map(_fix_line, fixes) if fixes else ["there is nothing that --fix mends"])
        if again := {result["check"] for result in fixes if result["done"]}:
            print_lines("", "afterwards:")
            findings = [finding for finding in findings if finding.check not in again]
            findings += examine([check for check in wanted if check.id in again], begin())
    numbers: dict[str, int] = {state: sum(finding.state == state for finding in findings) for state in COLOURS}
    if invocation.is_json:
        invocation.print_json({"summary": numbers, "checks": list(map(_finding_json, findings)), "fixes": fixes})
    print_lines("", _summary(numbers, sum(finding.remedy is not None for finding in findings)))
    return Exit.ERROR if numbers["wrong"] else Exit.DONE


def _print_lines(invocation: Invocation, *lines: str) -> None:
    """Print lines for a person; with --json nothing, since the JSON is printed at the end."""
    if not invocation.is_json:
        for line in lines:
            click.echo(line)


def _examine(
    checks: Sequence[DoctorCheck], examination: CheckContext, *, seconds: float | None, is_verbose: bool
) -> list[Finding]:
    """Run checks, and print each section as soon as its findings are known."""
    findings, unused = list[Finding](), list[str]()
    for section, group in groupby(
        run_checks(checks, examination, seconds), key=lambda finding: finding.check.partition(".")[0]
    ):
        of_section = list(group)
        findings += of_section
        has_advice = len(of_section) == 1 and of_section[0].hint
        is_unused = all(finding.state == "off" for finding in of_section) and not has_advice
        if is_unused and not is_verbose:
            unused.append(section)
        else:
            _print_lines(examination.invocation, *_section_lines(section, of_section, is_verbose=is_verbose))
    if unused:
        _print_lines(examination.invocation, _line("off", "not in use", ", ".join(unused)))
    return findings


def checks(sections: Collection[str] = SECTIONS) -> list[DoctorCheck]:
    """Import the checks of some sections, and return them in the order of the output."""
    return [check for section in SECTIONS if section in sections for check in _section_checks(section)]


def _section_checks(section: str) -> list[DoctorCheck]:
    """Return the checks of a section; if their module cannot be imported, one check that reports it."""
    try:
        import_module(f"memoryd.cli.checks.{SECTIONS[section]}")
    except ImportError as exc:
        error = exc

        def fails(_examination: CheckContext) -> list[Finding]:
            raise error

        return [DoctorCheck(f"{section}.imports", section, "", needs_config=False, seconds=1.0, run=fails)]
    return [check for check in REGISTERED if check.section == section]


def run_checks(
    checks: Sequence[DoctorCheck], examination: CheckContext, seconds: float | None = None
) -> Iterator[Finding]:
    """Start all checks, and yield their findings in order; `seconds` is the time limit, None: that of each check."""
    usable = [check for check in checks if examination.loaded is not None or not check.needs_config]
    for check, findings in [(check, _start(check, examination, seconds)) for check in usable]:
        for finding in findings():
            hint = finding.hint or (check.advice if finding.state == "wrong" else "")
            yield replace(finding, check=check.id, hint=hint, part=finding.part or check.title)


def _start(check: DoctorCheck, examination: CheckContext, seconds: float | None) -> Callable[[], list[Finding]]:
    """Start a check, and return a function that waits for its findings."""
    limit = seconds or (DEEP_SECONDS if examination.is_deep else check.seconds)
    result: Future[list[Finding]] = Future()

    def work() -> None:
        try:
            result.set_result(list(check.run(examination)))
        except BaseException as exc:
            result.set_exception(exc)

    # a daemon thread: a check that hangs in the kernel must not block the exit of the command
    Thread(target=work, name=check.id, daemon=True).start()
    return partial(_findings, result, limit, time.monotonic() + limit)


def _findings(result: Future[list[Finding]], limit: float, ends_at: float) -> list[Finding]:
    hint = ""
    try:
        return result.result(max(0.0, ends_at - time.monotonic()))
    except MemorydError as exc:
        message, hint = str(exc), exc.hint
    except TimeoutError:
        message = "it ran into a time-out of its own"
        if not result.done():
            message = f"did not answer in {limit:g} s"
            hint = "see whether a disk or a network hangs; --seconds waits longer"
    except OSError as exc:
        message = str(exc)
    except Exception as exc:
        message, hint = f"the check itself failed: {type(exc).__name__}: {exc}", "please report it"
    return [Finding("wrong", message, hint)]


def _fixes(findings: Sequence[Finding], *, is_dry_run: bool, is_agreed: bool) -> Iterator[Fix]:
    """Apply the remedies of the findings, equal remedies once; in a dry run only report what would be done."""
    remedies: dict[str, tuple[str, Remedy]] = {}
    for finding in findings:
        if finding.remedy is not None:
            remedies.setdefault(finding.remedy.description, (finding.check, finding.remedy))
    for does, (check, remedy) in remedies.items():
        is_done = False
        if is_dry_run:
            result = f"{_WOULD}{does}"
        elif remedy.needs_consent and not is_agreed and not _ask(does):
            result = f"{does}: --yes agrees to that"
        else:
            try:
                is_done, result = True, remedy.act()
            except (MemorydError, OSError) as exc:
                is_done, result = False, f"{does}: {exc}"
        yield Fix(check=check, fix=does, done=is_done, told=result)


def _ask(does: str) -> bool:
    """Ask at the terminal whether a remedy with network traffic may be applied; False without a terminal."""
    return is_terminal(sys.stdin) and click.confirm(f"{does[0].upper()}{does[1:]}?", err=True)


def _fix_line(fix: Fix) -> str:
    word = "done: " if fix["done"] else "" if fix["told"].startswith(_WOULD) else "not done: "
    return harmless_line(f"{word}{fix['told']}")


def _section_lines(section: str, findings: Sequence[Finding], *, is_verbose: bool) -> Iterator[str]:
    """Yield the lines of one section: its problems, or a single line if there are none."""
    troubles = [finding for finding in findings if finding.state not in ("ok", "off")]
    if is_verbose or troubles:
        for finding in findings if is_verbose else troubles:
            yield from _lines(finding)
    elif len(findings) == 1:
        yield from _lines(findings[0], with_hint=findings[0].state == "off")
    else:
        well = sum(finding.state == "ok" for finding in findings)
        yield _line("ok", section, f"{count(well, 'thing')} looked at, all well")


def _summary(numbers: Mapping[str, int], mendable: int) -> str:
    """Return the number of findings in each state, and of those that --fix can repair."""
    words = {"wrong": "wrong", "open": "open to others", "look": "to look at", "ok": "well"}
    counted = [f"{numbers[state]} {word}" for state, word in words.items() if numbers[state] or state == "ok"]
    hint = f"; memoryctl doctor --fix mends {mendable} of them" if mendable else ""
    return f"{', '.join(counted)}{hint}"


def _finding_json(finding: Finding) -> dict[str, object]:
    return {
        "check": finding.check,
        "part": finding.part,
        "state": finding.state,
        "message": finding.message,
        "hint": finding.hint,
        "fix": finding.remedy.description if finding.remedy else None,
    }


def _lines(finding: Finding, *, with_hint: bool = True) -> Iterator[str]:
    yield _line(finding.state, finding.part, finding.message)
    if finding.hint and with_hint:
        yield f"       {harmless_line(finding.hint)}"


def _line(state: FindingState, part: str, message: str) -> str:
    return f"{style(f'{state:<5}', colour=COLOURS[state])}  {part}: {harmless_line(message)}"
