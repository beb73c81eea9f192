"""What a person gives to name turns and to say what is in them."""

import sys

import click

from memoryd.domain.citations import TurnAddress, parse_address, parse_seqs
from memoryd.wire import SESSIONS_MAX

key_option = click.option(
    "--key",
    "--session-key",
    "key",
    metavar="KEY",
    help="The session key of the session, such as agent:main:discord:direct:peter.",
)
limit_option = click.option("--limit", type=click.IntRange(1, SESSIONS_MAX), metavar="N", help="How many at most.")


def given_text(given: str) -> str:
    """Return a text, for `-` that of standard input."""
    return sys.stdin.read() if given == "-" else given


def given_address(text: str) -> TurnAddress:
    """Read the address of turns; raises UsageError."""
    try:
        return parse_address(text)
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc


def given_seqs(address: TurnAddress, seq: str | None) -> str | None:
    """Return which turns are meant, by the address or by the option; raises UsageError."""
    is_named = address != TurnAddress(address.session)
    if seq is None:
        return str(address.seqs) if is_named else None
    if is_named:
        raise click.UsageError("give the turns in the address or with --seq, not both")
    try:
        return str(parse_seqs(seq))
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc
