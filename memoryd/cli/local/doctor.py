"""memoryctl doctor: looks at what memoryd needs, says what is wrong and what to do about it, and mends what is safe.

Works with a daemon and without. The checks are in `memoryd/cli/checks`. They run side by side, each within its time:
one that fails or hangs is one finding and not the end. A remedy that fails keeps no other.
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
from memoryd.cli.checks.finding import REGISTERED, DoctorCheck, Examination, Finding, FindingState, Remedy
from memoryd.cli.invocation import Invocation, flag, verb
from memoryd.cli.terminal import count, harmless_line, is_terminal, styled
from memoryd.errors import MemorydError
from memoryd.wire import Exit

DEEP_SECONDS = 600.0
"""What a check may take that looks at everything."""
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
"""The module of each section, in the order in which they are shown."""
COLOURS: Mapping[FindingState, str] = {
    "ok": "green",
    "off": "white",
    "open": "yellow",
    "look": "yellow",
    "wrong": "red",
}
_WOULD = "would "


class Fix(TypedDict):
    """What became of a remedy: `told` is what was done, or why it was not."""

    check: str
    fix: str
    done: bool
    told: str


@click.command("doctor")
@flag("--fix", help="Mend what is safe to mend, and say what was done.")
@flag("--dry-run", help="With --fix: say what would be done, and do nothing.")
@flag("--yes", "-y", help="With --fix: also fetch a model again without asking.")
@flag("--deep", help="Look at every note and every page, and try the model: takes minutes.")
@flag("--ask-providers", help="Ask providers elsewhere too, which may cost some tokens.")
@click.option(
    "--section",
    "sections",
    multiple=True,
    type=click.Choice(tuple(SECTIONS)),
    help="Look at this part alone; may be repeated.",
)
@click.option("--seconds", type=click.FloatRange(0.01, 86_400), help="How long a check may take (else its own limit).")
@flag("--verbose", "-v", help="Show what is well, too, each for itself.")
@verb
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
    begin = partial(Examination.begin, invocation, is_deep=deep, asks_providers=ask_providers)
    examine, tell = partial(_examine, seconds=seconds, is_verbose=verbose), partial(_tell, invocation)
    wanted = checks(sections or SECTIONS)
    findings, fixes = examine(wanted, begin()), list[Fix]()
    if fix:
        fixes = list(_fixes(findings, is_dry_run=dry_run, is_agreed=yes))
        tell(*map(_fix_line, fixes) if fixes else ["there is nothing that --fix mends"])
        if again := {one["check"] for one in fixes if one["done"]}:
            tell("", "afterwards:")
            findings = [one for one in findings if one.check not in again]
            findings += examine([check for check in wanted if check.id in again], begin())
    numbers: dict[str, int] = {state: sum(one.state == state for one in findings) for state in COLOURS}
    if invocation.is_json:
        invocation.print_json({"summary": numbers, "checks": list(map(_finding_json, findings)), "fixes": fixes})
    tell("", _summary(numbers, sum(one.remedy is not None for one in findings)))
    return Exit.ERROR if numbers["wrong"] else Exit.DONE


def _tell(invocation: Invocation, *lines: str) -> None:
    """Print lines for a person; a program gets JSON, at the end."""
    if not invocation.is_json:
        for line in lines:
            click.echo(line)


def _examine(
    checks: Sequence[DoctorCheck], examination: Examination, *, seconds: float | None, is_verbose: bool
) -> list[Finding]:
    """Run checks, and tell each section as soon as it is known."""
    findings, unused = list[Finding](), list[str]()
    for section, group in groupby(
        examined(checks, examination, seconds), key=lambda finding: finding.check.partition(".")[0]
    ):
        of_section = list(group)
        findings += of_section
        # what is not in use, and has nothing to advise
        is_unused = all(one.state == "off" for one in of_section) and (len(of_section) > 1 or not of_section[0].hint)
        if is_unused and not is_verbose:
            unused.append(section)
        else:
            _tell(examination.invocation, *_section_lines(section, of_section, is_verbose=is_verbose))
    if unused:
        _tell(examination.invocation, _line("off", "not in use", ", ".join(unused)))
    return findings


def checks(sections: Collection[str] = SECTIONS) -> list[DoctorCheck]:
    """Import the checks of some sections, and return them as they are shown."""
    return [check for section in SECTIONS if section in sections for check in _section_checks(section)]


def _section_checks(section: str) -> list[DoctorCheck]:
    """Return the checks of a section; where a package does not load that they need, one that says so."""
    try:
        import_module(f"memoryd.cli.checks.{SECTIONS[section]}")
    except ImportError as exc:
        error = exc

        def fails(_examination: Examination) -> list[Finding]:
            raise error

        return [DoctorCheck(f"{section}.imports", section, "", needs_config=False, seconds=1.0, look=fails)]
    return [check for check in REGISTERED if check.section == section]


def examined(
    checks: Sequence[DoctorCheck], examination: Examination, seconds: float | None = None
) -> Iterator[Finding]:
    """Yield what the checks find, in their order; `seconds` is what each may take, else its own limit."""
    usable = [check for check in checks if examination.loaded is not None or not check.needs_config]
    for check, findings in [(check, _start(check, examination, seconds)) for check in usable]:
        for one in findings():
            hint = one.hint or (check.advice if one.state == "wrong" else "")
            yield replace(one, check=check.id, hint=hint, part=one.part or check.title)


def _start(check: DoctorCheck, examination: Examination, seconds: float | None) -> Callable[[], list[Finding]]:
    """Start a check, and return what waits for its findings."""
    limit = seconds or (DEEP_SECONDS if examination.is_deep else check.seconds)
    result: Future[list[Finding]] = Future()

    def work() -> None:
        try:
            result.set_result(list(check.look(examination)))
        except BaseException as exc:
            result.set_exception(exc)

    # a daemon thread: what hangs in the kernel must not keep the command from ending
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
    """Apply the remedy of each finding that has one, equal ones once; in a dry run say what would be done."""
    remedies: dict[str, tuple[str, Remedy]] = {}
    for one in findings:
        if one.remedy is not None:
            remedies.setdefault(one.remedy.does, (one.check, one.remedy))
    for does, (check, remedy) in remedies.items():
        is_done = False
        if is_dry_run:
            told = f"{_WOULD}{does}"
        elif remedy.asks and not is_agreed and not _ask(does):
            told = f"{does}: --yes agrees to that"
        else:
            try:
                is_done, told = True, remedy.act()
            except (MemorydError, OSError) as exc:
                is_done, told = False, f"{does}: {exc}"
        yield Fix(check=check, fix=does, done=is_done, told=told)


def _ask(does: str) -> bool:
    """Ask at the terminal whether what costs traffic may be done; where there is none, it may not."""
    return is_terminal(sys.stdin) and click.confirm(f"{does[0].upper()}{does[1:]}?", err=True)


def _fix_line(fix: Fix) -> str:
    word = "done: " if fix["done"] else "" if fix["told"].startswith(_WOULD) else "not done: "
    return harmless_line(f"{word}{fix['told']}")


def _section_lines(section: str, findings: Sequence[Finding], *, is_verbose: bool) -> Iterator[str]:
    """Yield the lines of one section; what is well is one line unless there is something else to tell."""
    troubles = [one for one in findings if one.state not in ("ok", "off")]
    if is_verbose or troubles:
        for one in findings if is_verbose else troubles:
            yield from _lines(one)
    elif len(findings) == 1:
        yield from _lines(findings[0], with_hint=findings[0].state == "off")
    else:
        well = sum(one.state == "ok" for one in findings)
        yield _line("ok", section, f"{count(well, 'thing')} looked at, all well")


def _summary(numbers: Mapping[str, int], mendable: int) -> str:
    """Return how many findings are in each state, and whether something can be mended."""
    words = {"wrong": "wrong", "open": "open to others", "look": "to look at", "ok": "well"}
    counted = [f"{numbers[state]} {word}" for state, word in words.items() if numbers[state] or state == "ok"]
    hint = f"; memoryctl doctor --fix mends {mendable} of them" if mendable else ""
    return f"{', '.join(counted)}{hint}"


def _finding_json(one: Finding) -> dict[str, object]:
    return {
        "check": one.check,
        "part": one.part,
        "state": one.state,
        "message": one.message,
        "hint": one.hint,
        "fix": one.remedy.does if one.remedy else None,
    }


def _lines(one: Finding, *, with_hint: bool = True) -> Iterator[str]:
    yield _line(one.state, one.part, one.message)
    if one.hint and with_hint:
        yield f"       {harmless_line(one.hint)}"


def _line(state: FindingState, part: str, message: str) -> str:
    return f"{styled(f'{state:<5}', colour=COLOURS[state])}  {part}: {harmless_line(message)}"
