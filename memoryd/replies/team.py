"""Replies about the memory of a team: what was shared, what was taken back, and how the exchange does."""

from typing import TypedDict


class TeamPersonReply(TypedDict):
    """Somebody in the team."""

    name: str
    """What they are called in citations, such as `ana`."""
    files: int
    """How many files of theirs are shown here."""


class TeamPublishedReply(TypedDict):
    """What of one's own the others can have."""

    pending: int
    """How many files wait to be sent."""
    behindSeconds: int
    """How long the oldest of them has waited."""


class TeamReply(TypedDict):
    """A team, as this machine sees it."""

    name: str
    """The name of the team; its memories have the scope `team:<name>`."""
    person: str
    """Who you are in it."""
    remote: str
    """Where its repository lies."""
    people: list[TeamPersonReply]
    """Who is in it, as of the last exchange since the start."""
    published: TeamPublishedReply
    """What of yours the others can have."""
    fetchedAt: str | None
    """When it was last seen what others shared, ISO 8601; null before the first time since the start."""
    pushedAt: str | None
    """When something of yours was last sent, ISO 8601; null before the first time since the start."""
    offline: str | None
    """Why the repository could not be reached, the last time; null if it was."""
    trouble: list[str]
    """What you should look at, in sentences."""


class TeamPromoteReply(TypedDict):
    """A memory that is shared with the team, or would be."""

    id: str
    """Its id in the repository of the team."""
    line: str
    """The line as the team reads it."""
    author: str
    """Whose it is there."""
    readers: list[str]
    """Who is in the team, and so may read it."""
    citation: str
    """The file of the repository, and its line once it is there."""
    promoted: bool
    """Whether it is shared now; false with `dryRun`, unless it was before."""
    changed: bool
    """Whether it was not shared before."""
    sent: bool
    """Whether everything of yours has been sent; else it is sent when the repository can be reached."""
    notes: list[str]
    """What you should know, in sentences."""


class TeamRevokeReply(TypedDict):
    """What was taken back from the team, and what nobody here can reach."""

    revoked: list[str]
    """The lines that are gone, or would be, by file and line of the repository."""
    changed: bool
    """Whether they were taken out; false with `dryRun`."""
    sent: bool
    """Whether that has been sent; else it is sent when the repository can be reached."""
    stays: list[str]
    """What is out of reach, in sentences."""
