"""memoryctl doctor: looks at what a configuration needs, says what is wrong and what to do about it.

Works without a daemon. Each part is a module with a `checks` function; `SECTIONS` says which there are.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Literal

import click

from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.cli.terminal import harmless_line, styled
from memoryd.config.loading.exposure import exposures
from memoryd.config.loading.load import load
from memoryd.config.root import Config
from memoryd.wire import Exit

SECTIONS = ("notes", "memories", "embedder", "reranker", "llm", "qmd", "http")
"""`memoryd.cli.doctor_<section>`; imported when asked for, since they reach what other commands do without."""
MARKS = {
    "ok": ("green", "ok"),
    "off": ("white", "off"),
    "open": ("yellow", "open"),
    "look": ("yellow", "look"),
    "wrong": ("red", "wrong"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `hint` is what to do, in one sentence.

    What is `open` works, and others can see what they should not. What is to `look` at works, and may not be what
    somebody meant.
    """

    part: str
    state: Literal["ok", "off", "open", "look", "wrong"]
    message: str
    hint: str = ""


Checks = Callable[[Config], Coroutine[None, None, Sequence[Finding]]]


@click.command("doctor", context_settings=HELP)
@shared
@click.pass_obj
def command(invocation: Invocation) -> Exit:
    """Say what is missing or broken, and how to mend it."""
    loaded = load()
    checks = [Finding("configuration", "ok", str(loaded.source or "no file, the defaults hold"))]
    checks += [Finding("privacy", "open", one.message, one.hint) for one in exposures(loaded.config, loaded.source)]
    for section in SECTIONS:
        look: Checks = import_module(f"memoryd.cli.doctor_{section}").checks
        checks += asyncio.run(look(loaded.config))
    if invocation.is_json:
        invocation.print_json({"checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            _print(check)
    return Exit.ERROR if any(check.state == "wrong" for check in checks) else Exit.DONE


def _print(check: Finding) -> None:
    colour, word = MARKS[check.state]
    click.echo(f"{styled(f'{word:<5}', colour=colour)}  {check.part}: {harmless_line(check.message)}")
    if check.hint:
        click.echo(f"       {harmless_line(check.hint)}")
