"""What embedding would send away, in words."""

from memoryd.cli.terminal import count, size
from memoryd.replies import OutstandingReply


def cost(outstanding: OutstandingReply) -> str:
    """`3 files, 17 passages, about 1,204 tokens, with 2 pictures and sounds of 310 kB`."""
    files, passages = count(outstanding["files"], "file"), count(outstanding["passages"], "passage")
    media = outstanding.get("media", 0)
    seen = f", with {media:,} pictures and sounds of {size(outstanding.get('mediaBytes', 0))}" if media else ""
    return f"{files}, {passages}, about {count(outstanding['tokens'], 'token')}{seen}"
