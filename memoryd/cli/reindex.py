"""memoryctl reindex: read all files again, and if asked compute all vectors again."""

import click

from memoryd.cli.number import Number
from memoryd.cli.settings import HELP, Settings, shared
from memoryd.cli.waiting import TIMEOUT_SECONDS, reach, report, tell
from memoryd.client import Wait
from memoryd.wire import Exit


@click.command("reindex", context_settings=HELP)
@click.option("--force", is_flag=True, help="Read and chunk every file again, changed or not.")
@click.option("--embeddings", is_flag=True, help="Drop all vectors and compute them again.")
@click.option("--wait/--no-wait", "is_waiting", default=True, help="Wait until it is done (default) or not.")
@click.option(
    "--timeout",
    type=Number(min=0),
    default=TIMEOUT_SECONDS,
    show_default=True,
    metavar="S",
    help="Seconds to wait at most; then exit with 1. The work goes on.",
)
@shared
@click.pass_obj
def command(settings: Settings, force: bool, embeddings: bool, is_waiting: bool, timeout: float) -> Exit:
    """Bring the index in step with the disk, from the ground up if asked."""
    with settings.client() as client:
        pending = client.reindex(force=force, embeddings=embeddings, agent=settings.agent)
    if not is_waiting:
        tell(settings, "none", pending, is_done=True)
        return Exit.DONE
    goal: Wait = "embedded" if embeddings else "indexed"
    return report(settings, goal, reach(settings, goal, timeout))
