"""What `memoryctl doctor` prints: what is well in a line for each section, all else with what to do."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from memoryd.cli.checks.finding import Finding, FindingState
from memoryd.cli.terminal import count, harmless_line, styled

MARKS: Final[Mapping[FindingState, tuple[str, str]]] = {
    "ok": ("green", "ok"),
    "off": ("white", "off"),
    "open": ("yellow", "open"),
    "look": ("yellow", "look"),
    "wrong": ("red", "wrong"),
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
    told = [f"{numbers['wrong']} wrong"] if numbers["wrong"] else []
    told += [f"{numbers['open']} open to others"] if numbers["open"] else []
    told += [f"{numbers['look']} to look at"] if numbers["look"] else []
    told += [f"{numbers['ok']} well"]
    mendable = sum(one.remedy is not None for one in found)
    hint = f"; memoryctl doctor --fix mends {mendable} of them" if mendable else ""
    return f"{', '.join(told)}{hint}"


def counts(found: Sequence[Finding]) -> dict[str, int]:
    """Return how many findings are in each state."""
    return {state: sum(one.state == state for one in found) for state in MARKS}


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
    colour, word = MARKS[state]
    return f"{styled(f'{word:<5}', colour=colour)}  {part}: {harmless_line(message)}"
