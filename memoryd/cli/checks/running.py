"""Running checks side by side: each has its time, and one that fails or hangs is one finding and not the end."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from importlib import import_module
from threading import Thread

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.cli.checks.table import DoctorCheck
from memoryd.errors import MemorydError


@dataclass(frozen=True, slots=True)
class _Started:
    check: DoctorCheck
    limit: float
    ends_at: float
    found: Future[list[Finding]]


def look_of(check: DoctorCheck) -> Callable[[Examination], Iterable[Finding]]:
    """Import what does a check: `LOOKS` of `memoryd.cli.checks.<section>`, which other commands do without."""
    looks: Looks = import_module(f"memoryd.cli.checks.{check.section}").LOOKS
    return looks[check.id]


def examined(
    checks: Sequence[DoctorCheck], examination: Examination, seconds: float | None = None
) -> Iterator[Finding]:
    """Yield what the checks find, in their order; `seconds` is what each may take, else its own limit."""
    usable = [check for check in checks if examination.loaded is not None or not check.needs_config]
    for one in [_started(check, examination, seconds) for check in usable]:
        for finding in _found(one):
            hint = finding.hint or (one.check.advice if finding.state == "wrong" else "")
            yield replace(finding, check=one.check.id, hint=hint)


def _started(check: DoctorCheck, examination: Examination, seconds: float | None) -> _Started:
    limit = seconds or (check.deep_seconds if examination.extent.is_deep else check.seconds)
    found: Future[list[Finding]] = Future()

    def work() -> None:
        try:
            found.set_result(list(look_of(check)(examination)))
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
        return [_failed(one.check, str(exc), exc.hint or one.check.advice)]
    except TimeoutError:
        if one.found.done():
            return [_failed(one.check, "it ran into a time-out of its own", one.check.advice)]
        return [
            _failed(
                one.check,
                f"did not answer in {one.limit:g} s",
                "see whether a disk or a network hangs; --seconds waits longer",
            )
        ]
    except OSError as exc:
        return [_failed(one.check, str(exc), one.check.advice)]
    except Exception as exc:
        return [_failed(one.check, f"the check itself failed: {type(exc).__name__}: {exc}", "please report it")]


def _failed(check: DoctorCheck, message: str, hint: str) -> Finding:
    return Finding(check.title, "wrong", message, hint)
