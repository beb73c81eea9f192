"""`team`: the memory that several people share, beside one's own. Off unless a remote is named."""

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
"""A slash may stand in a password; digits before one are a port."""
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
    """Return an address, or a text that names one, without a password, or a token in the place of a name."""
    return _PARAMETER.sub(r"\1***", _PASSWORD.sub(r"\1***@", _TOKEN.sub(r"\1***@", address)))


def is_on_disk(remote: str) -> bool:
    """Tell whether a remote is a folder here: git reads what has a colon before any slash as a host."""
    head = remote.partition("/")[0]
    return remote.startswith("file://") or ("://" not in remote and ":" not in head)


class TeamSection(Section):
    """A team, and who of it one is. `memoryctl team join` writes it."""

    remote: Text | None = None
    """What the team shares by: a git repository, in a folder or at an address such as `git@host:acme/memory.git`, or a
    server such as `postgresql://ana@host/memory`; unset: no team."""
    name: PersonName | None = None
    """What the team is called; its memories have the scope `team:<name>`."""
    person: PersonName | None = None
    """Who you are in the team: what you promote is cited as `<person>:memory/2026-11-02.md#L14`."""
    agent: Annotated[Text, AfterValidator(folded_id)] | None = None
    """The id of the one agent that shares and sees the team's memory; unset: the default agent."""
    checkout: AnchoredPath | None = None
    """A checkout of the repository that you keep yourself, relative to the folder of the configuration file; unset: one
    in the state folder."""
    share: Texts = ()
    """Globs of notes that are shared by their path, such as `memory/projects/**`; nothing is shared by default."""
    interval_minutes: int = Field(default=10, ge=0, le=1440)
    """How often what others shared is fetched and what is owed is sent, in minutes; 0: only on demand."""

    @property
    def is_joined(self) -> bool:
        """Whether there is a team to share with."""
        return self.remote is not None and self.name is not None and self.person is not None

    @property
    def is_on_server(self) -> bool:
        """Whether a PostgreSQL server carries it, and no git repository."""
        return (self.remote or "").startswith(SERVER)

    @property
    def folder(self) -> Path:
        """Where everything of this team lies that memoryd keeps."""
        return team_dir(self.name or "")

    @property
    def published_file(self) -> Path:
        """Where it is noted which notes this machine shares."""
        return self.folder / "shared-notes.json"

    @property
    def checkout_folder(self) -> Path:
        """Where the checkout lies."""
        return self.folder / "checkout" if self.checkout is None else expand(self.checkout, Path.home())

    @property
    def notes_folder(self) -> Path:
        """Where the notes of the team lie as they are indexed: a folder for each person."""
        return self.folder / "notes"
