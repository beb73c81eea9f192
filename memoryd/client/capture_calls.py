"""Calls that capture."""

from memoryd.client.connection import DaemonConnection
from memoryd.replies.capture import CaptureReply


def capture(
    memory: DaemonConnection, text: str, *, answer: str | None = None, dry_run: bool = False, agent: str | None = None
) -> CaptureReply:
    """Keep what a message states, or with `dry_run` say what would be kept, and why not the rest."""
    body = {"text": text, "answer": answer, "dryRun": dry_run, "agent": agent}
    reply: CaptureReply = memory.call("POST", "/capture", body)
    return reply
