"""`team`: a memory that several people share, beside each person's own. Off unless `team.remote` is set."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from memoryd.config.paths import expand, team_dir
from memoryd.config.section import AnchoredPath, Section, Text, Texts
from memoryd.domain.access import folded_id
from memoryd.domain.documents import RESERVED, is_person
from memoryd.domain.expressions import expression

SERVER = ("postgresql://", "postgres://")
_TOKEN = expression(r"(https?://)[^/@\s]+@")
_PASSWORD = expression(r"(://[^/@:\s]*:)(?!\d*/)[^@\s]*@")
"""A password may contain a slash; digits before a slash are a port."""
_PARAMETER = expression(r"(://\S*?[?&]\w*(?:pass(?:word|phrase|wd)|pwd|token|secret|api_?key)=)[^&#\s]+", re.IGNORECASE)


def _name(text: str) -> str:
    lowered = folded_id(text)
    if lowered in RESERVED:
        raise ValueError(f"must not be {lowered}, which means something else in citations")
    if not is_person(lowered):
        raise ValueError("must be 1 to 32 letters, digits, - or _, starting with a letter or digit")
    return lowered


PersonName = Annotated[str, AfterValidator(_name)]


def without_credentials(address: str) -> str:
    """Replace passwords, and tokens in place of a user name, by `***` in an address or a text with addresses."""
    return _PARAMETER.sub(r"\1***", _PASSWORD.sub(r"\1***@", _TOKEN.sub(r"\1***@", address)))


def is_on_disk(remote: str) -> bool:
    """Return whether a remote is a local folder: for git, text before a colon that precedes any slash is a host."""
    head = remote.partition("/")[0]
    return remote.startswith("file://") or ("://" not in remote and ":" not in head)


class TeamSection(Section):
    """A team, and your name in it. `memoryctl team join` writes this section."""

    remote: Text | None = None
    """The store that the team shares: a git repository, in a folder or at an address such as
    `git@host:acme/memory.git`, or a server such as `postgresql://ana@host/memory`; unset: no team."""
    name: PersonName | None = None
    """The name of the team; its memories have the scope `team:<name>`."""
    person: PersonName | None = None
    """Your name in the team: your shared memories are cited as `<person>:memory/2026-11-02.md#L14`."""
    agent: Annotated[Text, AfterValidator(folded_id)] | None = None
    """The id of the one agent that shares and sees the team's memory; unset: the default agent."""
    checkout: AnchoredPath | None = None
    """Your own checkout of the repository, relative to the folder of the configuration file; unset: a checkout in the
    state folder."""
    share: Texts = ()
    """Globs of notes that are shared by their path, such as `memory/projects/**`; nothing is shared by default."""
    interval_minutes: int = Field(default=10, ge=0, le=1440)
    """How often shared notes are fetched and unsent notes are sent, in minutes; 0: only on demand."""

    @property
    def is_joined(self) -> bool:
        """True if a team is configured."""
        return self.remote is not None and self.name is not None and self.person is not None

    @property
    def is_on_server(self) -> bool:
        """True if the remote is a PostgreSQL server, not a git repository."""
        return (self.remote or "").startswith(SERVER)

    @property
    def folder(self) -> Path:
        """The folder with memoryd's files of this team."""
        return team_dir(self.name or "")

    @property
    def published_file(self) -> Path:
        """The file that lists the notes that this machine shares."""
        return self.folder / "shared-notes.json"

    @property
    def checkout_folder(self) -> Path:
        """The folder of the checkout."""
        return self.folder / "checkout" if self.checkout is None else expand(self.checkout, Path.home())

    @property
    def notes_folder(self) -> Path:
        """The folder of the team's notes for indexing, with a subfolder for each person."""
        return self.folder / "notes"
