"""Secrets: given as text, or better as the name of a file or of an environment variable that holds them."""

import os
import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from secrets import token_bytes
from typing import Annotated, Final, Literal

from pydantic import PlainSerializer, PlainValidator, SecretStr, WithJsonSchema

from memoryd.errors import ConfigError

EXPECTED: Final = 'must be a text, {file: "/absolute/path"} or {env: "NAME"}'
SECRET_BYTES_MAX: Final = 64 * 1024
_MARKER: Final = token_bytes(32)
VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret that no repr, log line or dump shows; a reference shows what it points to.

    Of kind `unread` it is one that only another program can open; its content says what stands there.
    """

    kind: Literal["text", "file", "env", "unread"]
    content: SecretStr
    mark: bytes = b""
    """Differs where a file has another content than before, so that a reload finds the secret changed."""

    def __repr__(self) -> str:
        return f"Secret({masked(self)!r})"

    def reveal(self) -> str:
        """Return the secret itself, reading the file or the variable now.

        Raises ConfigError if there is none, or if it is not for us to open.
        """
        content = self.content.get_secret_value()
        if self.kind == "unread":
            raise ConfigError([f"{content}, which memoryd cannot open; it {EXPECTED}"])
        if self.kind == "text":
            return content
        found = os.environ.get(content, "") if self.kind == "env" else _first_line(content)
        if not found:
            raise ConfigError([f"no secret in {self.kind} {content}"])
        return found


def masked(secret: Secret) -> str | dict[str, str]:
    """Describe a secret without showing it."""
    if secret.kind == "text":
        return str(secret.content)
    return {secret.kind: secret.content.get_secret_value()}


def parse_secret(value: object) -> Secret:
    """Read the three spellings, and OpenClaw's: `"${NAME}"` and `{source: "env", id: "NAME"}`.

    Its references to files and programs have rules of their own, and are an error only when somebody wants to read
    them. Raises ValueError, which never quotes the value.
    """
    match value:
        case Secret():
            return value
        case str(text) if text.strip():
            variable = VARIABLE.fullmatch(text.strip())
            return Secret("env", SecretStr(variable[1])) if variable else Secret("text", SecretStr(text.strip()))
        case {"env": str(name), **rest} if name and not rest:
            return Secret("env", SecretStr(name))
        case {"file": str(path), **rest} if path.startswith(("/", "~")) and not rest:
            return Secret("file", SecretStr(path), _mark(path))
        case {"source": "env", "id": str(name)} if name:
            return Secret("env", SecretStr(name))
        case {"source": "file" | "exec" as source, "id": str()}:
            return Secret("unread", SecretStr(f"is a reference of OpenClaw to a secret of source {source}"))
    raise ValueError(EXPECTED)


def parse_foreign_secret(value: object) -> Secret | None:
    """Read what stands in a section of another program: nothing there is an error before it is used."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        return parse_secret(value)
    except ValueError:
        return Secret("unread", SecretStr("is no text and no reference"))


def _mark(path: str) -> bytes:
    """Return what tells the content of a file from another one, to this process alone; empty if it cannot be read."""
    try:
        file = Path(path).expanduser()
        # what is no file may keep whoever reads it waiting, and be read but once
        return blake2b(_first_line(path).encode(), key=_MARKER).digest() if file.is_file() else b""
    except (ConfigError, RuntimeError, OSError, ValueError):
        return b""


def _first_line(path: str) -> str:
    file = Path(path).expanduser()
    try:
        with file.open(encoding="utf-8") as stream:
            return stream.read(SECRET_BYTES_MAX).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"cannot read the secret in file {path}: {error}"]) from error


SecretValue = Annotated[
    Secret,
    PlainValidator(parse_secret),
    PlainSerializer(masked),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]},
                {"type": "object", "properties": {"env": {"type": "string"}}, "required": ["env"]},
                {"type": "object", "properties": {"source": {"type": "string"}}, "required": ["source", "id"]},
            ]
        }
    ),
]
ForeignSecret = Annotated[
    Secret | None,
    PlainValidator(parse_foreign_secret),
    PlainSerializer(lambda secret: None if secret is None else masked(secret)),
    WithJsonSchema({}),
]
