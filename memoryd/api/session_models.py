"""Shapes of the calls on sessions."""

from typing import Annotated, Any

from pydantic import Field

from memoryd.api.models import AgentId, Encode, Reply, Request
from memoryd.api.qa_models import QaTurnReply
from memoryd.domain.memories.bundle import Encoding


class SessionStartRequest(Request):
    """A session that begins; its key decides who may see what."""

    session_key: Annotated[str, Field(max_length=512)]
    """The session that begins, such as `agent:main:main`."""
    remember: bool | None = None
    """False: nothing that is said under this key is stored or indexed from now on; only the owner may say true; null:
    as it is."""
    encode: Encode = Encoding.TEXT
    """How the bundle is written: as delimited text, or in the message shape of an API, for its request."""
    agent: AgentId = None


class SessionStartReply(Reply):
    """What is known at the beginning; `context` and `sequence` are empty where nothing was said with this key."""

    bundle: str | dict[str, Any] | None = None
    """The core file, the persona and what is pinned, as text for a prompt or, by `encode`, an object for a
    request; null where there is none of it."""
    context: str
    """The turns of `sequence` as text for a prompt, told as a record and 1,200 tokens (estimated) at most."""
    sequence: list[QaTurnReply]
    """The last turns of the newest session with this key, in order."""
    is_sync_scheduled: Annotated[bool, Field(alias="syncScheduled")]
    """Whether the index looks at the disk now, in the background."""
