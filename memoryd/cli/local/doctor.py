"""memoryctl doctor: looks at what memoryd needs, says what is wrong and what to do about it, and mends what is safe.

Works with a daemon and without. What there is to look at stands in `memoryd/cli/checks`.
"""

from collections.abc import Sequence
from itertools import groupby

import click
from msgspec import Struct

from memoryd import log
from memoryd.cli.checks.finding import DoctorCheck, Examination, Extent, Finding
from memoryd.cli.checks.running import (
    SECTIONS,
    Remedied,
    agreed_by_person,
    checks,
    counts,
    examined,
    finding_json,
    is_unused,
    mended,
    section_lines,
    summary,
    unused_line,
)
from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.wire import Exit


@click.command("doctor", context_settings=HELP)
@click.option("--fix", is_flag=True, help="Mend what is safe to mend, and say what was done.")
@click.option("--dry-run", is_flag=True, help="With --fix: say what would be done, and do nothing.")
@click.option("--yes", "-y", is_flag=True, help="With --fix: also fetch a model again without asking.")
@click.option("--deep", is_flag=True, help="Look at every note and every page, and try the model: takes minutes.")
@click.option("--ask-providers", is_flag=True, help="Ask providers elsewhere too, which may cost some tokens.")
@click.option(
    "--section",
    "sections",
    multiple=True,
    type=click.Choice(tuple(SECTIONS)),
    help="Look at this part alone; may be repeated.",
)
@click.option("--seconds", type=click.FloatRange(0.01, 86_400), help="How long a check may take (else its own limit).")
@click.option("--verbose", "-v", is_flag=True, help="Show what is well, too, each for itself.")
@shared
@click.pass_obj
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
    visit = Visit(invocation, Extent(deep, ask_providers), seconds, verbose)
    wanted = checks(sections or SECTIONS)
    found, fixes = visit.found(wanted), list[Remedied]()
    if fix:
        agreed = (lambda _remedy: True) if yes else agreed_by_person
        fixes = list(mended(found, is_dry_run=dry_run, agreed=agreed))
        visit.tell(*map(str, fixes) if fixes else ["there is nothing that --fix mends"])
        if any(one.done for one in fixes):
            visit.tell("", "afterwards:")
            again = {one.check for one in fixes if one.done}
            found = [one for one in found if one.check not in again] + visit.found([c for c in wanted if c.id in again])
    if invocation.is_json:
        looks, done = [finding_json(one) for one in found], [one.as_json() for one in fixes]
        invocation.print_json({"summary": counts(found), "checks": looks, "fixes": done})
    visit.tell("", summary(found))
    return Exit.ERROR if any(one.state == "wrong" for one in found) else Exit.DONE


class Visit(Struct, frozen=True):
    """One run of the command: how far it looks, and how much it tells."""

    invocation: Invocation
    extent: Extent
    seconds: float | None
    is_verbose: bool

    def found(self, checks: Sequence[DoctorCheck]) -> list[Finding]:
        """Look, and tell each section as soon as it is known."""
        examination = Examination.begun(self.invocation, self.extent)
        running = examined(checks, examination, self.seconds)
        found, unused = list[Finding](), list[str]()
        for section, ones in groupby(running, key=lambda one: one.check.partition(".")[0]):
            of_section = list(ones)
            found += of_section
            if is_unused(of_section) and not self.is_verbose:
                unused.append(section)
            else:
                self.tell(*section_lines(section, of_section, is_verbose=self.is_verbose))
        if unused:
            self.tell(unused_line(unused))
        return found

    def tell(self, *lines: str) -> None:
        """Print lines for a person; a program gets JSON, at the end."""
        if not self.invocation.is_json:
            for line in lines:
                click.echo(line)
