"""What a backup says of itself: `manifest.json`, its last member."""

import json
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from memoryd.errors import InvalidRequest

MANIFEST: Final = "manifest.json"
FORMAT: Final = 1
"""Raised where an older program would misunderstand a backup."""
MANIFEST_BYTES_MAX: Final = 64 << 20
MEMBERS_MAX: Final = 200_000


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)


class BackupMember(_Part):
    """One file of a backup."""

    name: Annotated[str, Field(min_length=1, max_length=1_100)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class BackupWorkspace(_Part):
    """A workspace and who has it."""

    path: Annotated[str, Field(pattern=r"^/[^\x00]*$", max_length=4096)]
    agents: tuple[str, ...]


class BackupManifest(_Part):
    """All of a backup."""

    format: Literal[1] = FORMAT
    program: str
    """The version of memoryd that wrote it."""
    made_at: str
    ledger_version: int
    """Of the tables that this program makes; each ledger has its own in its header."""
    state_folder: str
    config_path: str | None
    masked_keys: int
    """How many keys were taken out of the configuration."""
    has_notes: bool
    folders: tuple[Annotated[str, Field(pattern=r"^/[^\x00]*$", max_length=4096)], ...]
    """Of ledgers outside of the state folder."""
    workspaces: tuple[BackupWorkspace, ...]
    members: Annotated[tuple[BackupMember, ...], Field(max_length=MEMBERS_MAX)]

    def encoded(self) -> bytes:
        """Return it as it is written."""
        return self.model_dump_json(by_alias=True, indent=1).encode()


def decoded_manifest(data: bytes) -> BackupManifest:
    """Read a manifest; raises InvalidRequest for what is none, or is of a newer format."""
    try:
        raw = json.loads(data)
        known = raw.get("format") if isinstance(raw, dict) else None
        if isinstance(known, int) and known > FORMAT:
            raise InvalidRequest(
                f"this backup has format {known}, of a newer memoryd ({str(raw.get('program'))[:40]}); this one reads "
                f"{FORMAT}",
                hint="restore it with the memoryd that wrote it, or a newer one; nothing was changed",
            )
        return BackupManifest.model_validate_json(data)
    except (ValueError, ValidationError, RecursionError) as exc:
        raise InvalidRequest("this is no backup of memoryd, or it is damaged", hint="nothing was changed") from exc
