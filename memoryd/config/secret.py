"""Secrets: given as text, or better as the name of a file or of an environment variable that holds them."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import PlainSerializer, PlainValidator, SecretStr, WithJsonSchema

from memoryd.errors import ConfigError

EXPECTED: Final = 'must be a text, {file: "/absolute/path"} or {env: "NAME"}'
FILE_BYTES_MAX: Final = 64 * 1024
VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret that no repr, log line or dump shows; a reference shows what it points to."""

    kind: Literal["text", "file", "env"]
    content: SecretStr

    def __repr__(self) -> str:
        return f"Secret({masked(self)!r})"

    def reveal(self) -> str:
        """Return the secret itself, reading the file or the variable now.

        Raises ConfigError if there is none.
        """
        content = self.content.get_secret_value()
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
    """Read the three spellings, and two of OpenClaw's: `"${NAME}"` and `{source: "env", id: "NAME"}`.

    Raises ValueError, which never quotes the value.
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
            return Secret("file", SecretStr(path))
        case {"source": "env", "id": str(name)} if name:
            return Secret("env", SecretStr(name))
    raise ValueError(EXPECTED)


def _first_line(path: str) -> str:
    file = Path(path).expanduser()
    try:
        with file.open(encoding="utf-8") as stream:
            return stream.read(FILE_BYTES_MAX).strip()
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
            ]
        }
    ),
]
