"""Replies to `/v1/forget` and `/v1/verify`."""

from typing import Literal, TypedDict


class ForgottenMemoryReply(TypedDict):
    """One memory that goes."""

    id: str
    content: str | None
    scope: str | None
    citations: list[str]


class ForgetReply(TypedDict):
    """What was forgotten, or would be, and what is out of reach."""

    forgotten: bool
    memories: list[ForgottenMemoryReply]
    lines: list[str]
    turns: list[str]
    files: int
    changes: list[int]
    purgedChanges: int
    purgedProposals: int
    purgedAnswers: int
    purgedSteps: int
    unfinished: list[str]
    stays: list[str]


class VerifyReply(TypedDict):
    """What became of a citation."""

    citation: str
    state: Literal["verified", "moved", "edited", "gone"]
    now: str | None
    id: str | None
    content: str | None
    supersededBy: list[str]
    note: str | None
