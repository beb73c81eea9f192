"""What embedding would send away, in words."""

from memoryd.cli.terminal import count
from memoryd.replies import Outstanding


def cost(outstanding: Outstanding) -> str:
    """`3 files, 17 passages, about 1,204 tokens`."""
    files, passages = count(outstanding["files"], "file"), count(outstanding["passages"], "passage")
    return f"{files}, {passages}, about {count(outstanding['tokens'], 'token')}"
