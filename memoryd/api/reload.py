"""`POST /v1/reload`: read the configuration again, without an end to anything."""

from typing import Annotated

from fastapi import Query

from memoryd.api.dependencies import AllServices
from memoryd.api.models import Reply
from memoryd.errors import NotNow


class ReloadReply(Reply):
    """What came of a reload; a file that cannot be taken is no failure of the call, and leaves all as it was."""

    reloaded: bool
    """Whether the file, the environment and the flags are what holds now; false leaves the configuration of before, as
    with `dryRun`."""
    changed: list[str]
    """The keys that differ from before, such as `memory.citations` or `agents.list[work].workspace`."""
    needs_restart: list[str]
    """The keys that differ from those at the start of the daemon, and take effect when it is started again."""
    problems: list[str]
    """Why the configuration was not taken, one sentence each; `status` has them until a reload succeeds."""
    notices: list[str]
    """What to know of the configuration that holds, one sentence each."""


IsDry = Annotated[bool, Query(alias="dryRun", description="`true`: only say what a reload would do")]


async def reload(services: AllServices, is_dry: IsDry = False) -> ReloadReply:
    """Load the configuration anew, and bring to bear what changed; calls wait meanwhile, and none is refused.

    A file that cannot be taken changes nothing: the reply says why.
    """
    ask = services.look_at_reload if is_dry else services.reload
    if ask is None:
        raise NotNow("there is nothing to be read again")
    done = await ask()
    return ReloadReply(
        reloaded=done.is_reloaded,
        changed=list(done.changed),
        needs_restart=list(done.needs_restart),
        problems=list(done.problems),
        notices=list(done.notices),
    )
