"""memoryctl reindex: read all files again, and if asked compute all vectors again."""

import click

from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.cli.waiting import reach, report, tell, timeout_option
from memoryd.wire import Exit, SyncGoal


@click.command("reindex", context_settings=HELP)
@click.option("--force", is_flag=True, help="Read and chunk every file again, changed or not.")
@click.option("--embeddings", is_flag=True, help="Drop all vectors and compute them again.")
@click.option("--wait/--no-wait", "is_waiting", default=True, help="Wait until it is done (default) or not.")
@timeout_option
@shared
@click.pass_obj
def command(invocation: Invocation, force: bool, embeddings: bool, is_waiting: bool, timeout: float) -> Exit:
    """Bring the index in step with the disk, from the ground up if asked."""
    with invocation.client() as client:
        pending = client.reindex(force=force, embeddings=embeddings, agent=invocation.agent)
    if not is_waiting:
        tell(invocation, "none", pending, is_done=True)
        return Exit.DONE
    goal: SyncGoal = "embedded" if embeddings else "indexed"
    return report(invocation, goal, reach(invocation, goal, timeout))
