"""Transcripts as agent programs write them, for tests that read them."""

import json
from datetime import UTC, datetime
from pathlib import Path

DAY = datetime(2026, 10, 6, 12, tzinfo=UTC)


def said(role: str, text: str, at: datetime | None = DAY) -> bytes:
    """Return a line of an OpenClaw transcript."""
    message = {"role": role, "content": text}
    stamp = {} if at is None else {"timestamp": at.isoformat()}
    return json.dumps({"type": "message", **stamp, "message": message}).encode() + b"\n"


def asked(text: str, at: datetime | None = DAY) -> bytes:
    return said("user", text, at)


def answered(text: str, at: datetime | None = DAY) -> bytes:
    return said("assistant", text, at)


EVENT = b'{"type":"custom","customType":"model-snapshot"}\n'


def append(path: Path, *lines: bytes) -> None:
    with path.open("ab") as file:
        file.writelines(lines)
