"""Runs the checks of doctor side by side, carries out remedies, and prints what was found.

Each check has its time; one that fails or hangs is one finding and not the end. A remedy that fails keeps no other.
"""

import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from importlib import import_module
from threading import Thread
from typing import Final

import click
from msgspec import Struct
from msgspec.structs import asdict, replace

from memoryd.cli.checks.finding import REGISTERED, DoctorCheck, Examination, Finding, FindingState, Remedy
from memoryd.cli.terminal import count, harmless_line, is_terminal, styled
from memoryd.errors import MemorydError

DEEP_SECONDS: Final = 600.0
"""What a check may take that looks at everything."""
SECTIONS: Final[Mapping[str, str]] = {
    "config": "config",
    "socket": "daemon",
    "daemon": "daemon",
    "permissions": "machine",
    "disk": "machine",
    "inotify": "machine",
    "watcher": "daemon",
    "notes": "notes",
    "index": "index",
    "ledger": "index",
    "replaced": "index",
    "memories": "notes",
    "queue": "daemon",
    "embedder": "models",
    "reranker": "models",
    "llm": "models",
    "qmd": "models",
    "http": "daemon",
    "clock": "machine",
    "service": "service",
    "log": "config",
    "hooks": "service",
}
"""The module of each section, in the order in which they are shown."""


class _Started(Struct, frozen=True):
    check: DoctorCheck
    limit: float
    ends_at: float
    found: Future[list[Finding]]


def checks(sections: Collection[str] = SECTIONS) -> list[DoctorCheck]:
    """Import the checks of some sections, and return them as they are shown."""
    return [check for section in SECTIONS if section in sections for check in _of_section(section)]


def _of_section(section: str) -> list[DoctorCheck]:
    """Return its checks; where a package does not load that they need, one that says so."""
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
    for one in [_started(check, examination, seconds) for check in usable]:
        for finding in _found(one):
            hint = finding.hint or (one.check.advice if finding.state == "wrong" else "")
            yield replace(finding, check=one.check.id, hint=hint, part=finding.part or one.check.title)


def _started(check: DoctorCheck, examination: Examination, seconds: float | None) -> _Started:
    limit = seconds or (DEEP_SECONDS if examination.extent.is_deep else check.seconds)
    found: Future[list[Finding]] = Future()

    def work() -> None:
        try:
            found.set_result(list(check.look(examination)))
        except BaseException as exc:
            found.set_exception(exc)

    # a thread that nobody waits for at the end: what hangs in the kernel must not keep the command
    Thread(target=work, name=check.id, daemon=True).start()
    return _Started(check, limit, time.monotonic() + limit, found)


def _found(one: _Started) -> list[Finding]:
    began = time.monotonic()
    try:
        return one.found.result(max(0.0, one.ends_at - began))
    except MemorydError as exc:
        message, hint = str(exc), exc.hint
    except TimeoutError:
        message, hint = "it ran into a time-out of its own", ""
        if not one.found.done():
            message = f"did not answer in {one.limit:g} s"
            hint = "see whether a disk or a network hangs; --seconds waits longer"
    except OSError as exc:
        message, hint = str(exc), ""
    except Exception as exc:
        message, hint = f"the check itself failed: {type(exc).__name__}: {exc}", "please report it"
    return [Finding("wrong", message, hint)]


_WOULD: Final = "would "
Agreed = Callable[[Remedy], bool]
"""Asks somebody whether what costs traffic may be done."""


class Remedied(Struct, frozen=True):
    """What became of a remedy: `told` is what was done, or why it was not."""

    check: str
    fix: str
    done: bool
    told: str

    def as_json(self) -> dict[str, object]:
        """Return it as `--json` has it."""
        return asdict(self)

    def __str__(self) -> str:
        word = "done: " if self.done else "" if self.told.startswith(_WOULD) else "not done: "
        return harmless_line(f"{word}{self.told}")


def mended(found: Sequence[Finding], *, is_dry_run: bool, agreed: Agreed) -> Iterator[Remedied]:
    """Yield what was done about each finding that can be mended, or in a dry run what would be; equal ones once."""
    seen = set()
    for one in found:
        remedy = one.remedy
        if remedy is not None and remedy.does not in seen:
            seen.add(remedy.does)
            yield Remedied(one.check, remedy.does, *_act(remedy, is_dry_run=is_dry_run, agreed=agreed))


def agreed_by_person(remedy: Remedy) -> bool:
    """Ask at the terminal; nobody there agrees to nothing."""
    return is_terminal(sys.stdin) and click.confirm(f"{remedy.does[0].upper()}{remedy.does[1:]}?", err=True)


def _act(remedy: Remedy, *, is_dry_run: bool, agreed: Agreed) -> tuple[bool, str]:
    if is_dry_run:
        return False, f"{_WOULD}{remedy.does}"
    if remedy.asks and not agreed(remedy):
        return False, f"{remedy.does}: --yes agrees to that"
    try:
        return True, remedy.act()
    except (MemorydError, OSError) as exc:
        return False, f"{remedy.does}: {exc}"


COLOURS: Final[Mapping[FindingState, str]] = {
    "ok": "green",
    "off": "white",
    "open": "yellow",
    "look": "yellow",
    "wrong": "red",
}


def section_lines(section: str, found: Sequence[Finding], *, is_verbose: bool) -> Iterator[str]:
    """Yield the lines of one section; what is well is one line unless there is something else to tell."""
    troubles = [one for one in found if not one.is_well]
    if is_verbose or troubles:
        for one in found if is_verbose else troubles:
            yield from _lines(one)
    elif len(found) == 1:
        yield from _lines(found[0], with_hint=found[0].state == "off")
    elif found:
        well = sum(one.state == "ok" for one in found)
        yield _line("ok", section, f"{count(well, 'thing')} looked at, all well")


def is_unused(found: Sequence[Finding]) -> bool:
    """Tell whether a section is about what is not in use, and has nothing to advise."""
    return all(one.state == "off" for one in found) and (len(found) > 1 or not found[0].hint)


def unused_line(sections: Sequence[str]) -> str:
    """Return the line about sections that are not in use."""
    return _line("off", "not in use", ", ".join(sections))


def summary(found: Sequence[Finding]) -> str:
    """Return how many are how, and whether something can be mended."""
    numbers = counts(found)
    words = {"wrong": "wrong", "open": "open to others", "look": "to look at", "ok": "well"}
    told = [f"{numbers[state]} {word}" for state, word in words.items() if numbers[state] or state == "ok"]
    mendable = sum(one.remedy is not None for one in found)
    hint = f"; memoryctl doctor --fix mends {mendable} of them" if mendable else ""
    return f"{', '.join(told)}{hint}"


def counts(found: Sequence[Finding]) -> dict[str, int]:
    """Return how many findings are in each state."""
    return {state: sum(one.state == state for one in found) for state in COLOURS}


def finding_json(one: Finding) -> dict[str, object]:
    """Return a finding as `--json` has it."""
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
