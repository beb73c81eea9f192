"""The base class of all configuration sections, and the types that they share: texts, durations and secrets.

A duration is written `"5m"`, `"90s"` or `"1h30m"`; a secret as text, or better as the name of a file or of an
environment variable that contains it.
"""

import ast
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from enum import StrEnum
from functools import cache
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from secrets import token_bytes
from typing import Annotated, Any, Literal, Self, TypeVar

from msgspec import Struct
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    SecretStr,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel

from memoryd.config.paths import expand
from memoryd.domain.expressions import expression
from memoryd.errors import ConfigError


def _alias(name: str) -> str:
    return to_camel(name.rstrip("_"))


def _title(section: type) -> str:
    """Return the title of a section in the JSON Schema, such as `Query` for QuerySection."""
    return section.__name__.removesuffix("Section")


class Section(BaseModel):
    """The values of one `{ … }` of the file: frozen, without unknown keys, without conversions between types.

    Keys are in camelCase in the file; Python code may construct a section with either spelling.
    """

    model_config = ConfigDict(
        alias_generator=_alias,
        model_title_generator=_title,
        validate_by_alias=True,
        validate_by_name=True,
        serialize_by_alias=True,
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        defer_build=True,
    )

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return itself, since it is immutable. Pydantic copies each default that contains a list or a mapping."""
        return self


def subclasses(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield all direct and indirect subclasses."""
    for section in base.__subclasses__():
        yield from (section, *subclasses(section))


def single_values(
    value: object, location: tuple[int | str, ...] = ()
) -> Iterator[tuple[tuple[int | str, ...], object]]:
    """Yield all single values in a section and the sections below, each with its location in the file's spelling."""
    match value:
        case Section():
            fields = type(value).model_fields.items()
            items: Iterable[tuple[int | str, object]] = (
                (field.alias or name, getattr(value, name)) for name, field in fields
            )
        case Mapping():
            items = value.items()
        case tuple():
            items = enumerate(value)
        case _:
            yield location, value
            return
    for key, below in items:
        yield from single_values(below, (*location, key))


def attribute_docstrings(body: Sequence[ast.stmt]) -> dict[str, str]:
    """Return attribute name → docstring for the attributes in the body of a class."""
    return {
        ast.unparse(field.target): inspect.cleandoc(ast.literal_eval(below.value))
        for field, below in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr)
    }


@cache
def _docstrings_in(module: str) -> Mapping[str, dict[str, str]]:
    """Return class name → attribute docstrings for a module; empty if the source is missing."""
    with suppress(OSError, SyntaxError):
        statements = ast.parse(inspect.getsource(sys.modules[module])).body
        return {node.name: attribute_docstrings(node.body) for node in statements if isinstance(node, ast.ClassDef)}
    return {}


def docstrings(section: type[BaseModel]) -> dict[str, str]:
    """Return field name → docstring; empty if the source is missing.

    They are read on demand: pydantic's `use_attribute_docstrings` would read all of them at each start.
    """
    texts: dict[str, str] = {}
    for kind in section.__mro__[: section.__mro__.index(BaseModel)]:
        texts = _docstrings_in(kind.__module__).get(kind.__qualname__, {}) | texts
    return {name: " ".join(texts[name].split()) for name in section.model_fields if name in texts}


def describe_properties(base: type[BaseModel], shapes: Mapping[str, Any]) -> None:
    """Add the field docstrings of all models below `base` as descriptions to `shapes`, JSON Schemas by model name."""
    for model in subclasses(base):
        # a model that is only a base class has no shape
        properties = shapes.get(model.__name__, {}).get("properties", {})
        for name, text in docstrings(model).items() if properties else ():
            properties[model.model_fields[name].alias or name]["description"] = text


class Effect(StrEnum):
    """How a reload applies a changed key."""

    AT_ONCE = "at once"
    """The new value is used at once, without an interruption."""
    EXCHANGE = "exchange"
    """The parts of all agents are closed and opened again over the same files; calls wait for it."""
    RESTART = "restart"
    """The old value stays until the daemon is restarted."""


class SharedSection(Section):
    """A section in which other programs have keys of their own; loading removes them with a notice."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": True})


class OpenClawSection(Section):
    """A section that OpenClaw also has: an unknown key, as of another OpenClaw version, is removed with a notice.

    An unknown key that looks like a key of memoryd, or like one that hides data, is a problem.
    """


def _usable(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    if "\0" in text:
        raise ValueError("must not hold a NUL character")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise ValueError("holds half a character") from error
    return text


Text = Annotated[str, AfterValidator(_usable)]
"""Text that is not blank and is valid as a path or an argument."""

SCHEME = expression(r"[A-Za-z][A-Za-z0-9+.-]+:")
"""`hf:`, `https:` and `pypi:` name a model, not a file."""


def anchored(text: str, info: ValidationInfo) -> str:
    """Make a path absolute, relative to the folder of the file that is being loaded; unchanged without a file."""
    return text if info.context is None or SCHEME.match(text) else str(expand(text, info.context))


AnchoredPath = Annotated[Text, AfterValidator(anchored)]
"""A path relative to the folder of the configuration file; all other paths are relative to the workspace."""

Item = TypeVar("Item")
TupleOf = Annotated[tuple[Item, ...], Field(strict=False)]
"""A list in the file, which becomes a tuple."""
Texts = TupleOf[Text]

Fraction = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]
ResultCount = Annotated[int, Field(ge=1, le=1000)]
Threads = Annotated[int, Field(ge=1, le=512)]
Concurrency = Annotated[int, Field(ge=1, le=64)]
DeadlineMs = Annotated[int, Field(ge=1, le=600_000)]
Seconds = Annotated[float, Field(ge=0, le=86_400)]
Minutes = Annotated[float, Field(ge=0, le=525_600)]
Days = Annotated[float, Field(gt=0, le=36_500)]


UpperCase = BeforeValidator(lambda value: value.upper() if isinstance(value, str) else value)


UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = expression(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*")
_DURATION = expression(rf"(?:{_PART.pattern})+")
LONGEST = timedelta(days=365)
EXPECTED_DURATION = 'must be a duration such as "30s", "5m" or "1h30m"'


def parse_duration(value: object) -> timedelta:
    """Parse a duration; a bare number counts minutes, as in OpenClaw, and 0 means never.

    Raises ValueError for anything else, and for more than a year.
    """
    if isinstance(value, timedelta):
        duration = value
    elif isinstance(value, str):
        duration = _from_text(value.strip().lower())
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LONGEST.total_seconds():
        duration = timedelta(minutes=value)
    else:
        raise ValueError(EXPECTED_DURATION)
    if not timedelta(0) <= duration <= LONGEST:
        raise ValueError("must lie between 0 and a year")
    return duration


def format_duration(duration: timedelta) -> str:
    """Return a duration as text, in the largest unit that gives a whole number, else in seconds."""
    seconds = duration.total_seconds()
    for unit in ("h", "m", "s"):
        if seconds and seconds % UNIT_SECONDS[unit] == 0:
            return f"{int(seconds / UNIT_SECONDS[unit])}{unit}"
    return f"{seconds:g}s"


def _from_text(text: str) -> timedelta:
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text):
        return timedelta(minutes=float(text))
    if len(text) > 40 or not _DURATION.fullmatch(text):
        raise ValueError(EXPECTED_DURATION)
    seconds = sum(float(number) * UNIT_SECONDS[unit] for number, unit in _PART.findall(text))
    return timedelta(seconds=min(seconds, LONGEST.total_seconds() + 1))


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema({"type": ["string", "number"], "description": EXPECTED_DURATION}),
]


EXPECTED_SECRET = 'must be a text, {file: "/absolute/path"} or {env: "NAME"}'
SECRET_BYTES_MAX = 64 * 1024
_MARKER = token_bytes(32)
VARIABLE = expression(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Secret(Struct, frozen=True):
    """A secret that no repr, log line or dump shows; of a reference the target is shown.

    A secret of kind `unread` can only be read by another program; its content describes the value.
    """

    kind: Literal["text", "file", "env", "unread"]
    content: SecretStr
    mark: bytes = b""
    """Digest of the file's content, so that a reload detects a changed secret; empty for other kinds."""

    def __repr__(self) -> str:
        return f"Secret({mask_secret(self)!r})"

    def reveal(self, environment: Mapping[str, str] = os.environ) -> str:
        """Return the secret itself; a file or variable is read at each call.

        Raises ConfigError if it is missing or empty, or of kind `unread`.
        """
        content = self.content.get_secret_value()
        if self.kind == "unread":
            raise ConfigError([f"{content}, which memoryd cannot open; it {EXPECTED_SECRET}"])
        if self.kind == "text":
            return content
        secret = environment.get(content, "") if self.kind == "env" else _first_line(content)
        if not secret:
            raise ConfigError([f"no secret in {self.kind} {content}"])
        return secret


def mask_secret(secret: Secret) -> str | dict[str, str]:
    """Return asterisks for a plain secret, and the reference itself for a reference."""
    if secret.kind == "text":
        return str(secret.content)
    return {secret.kind: secret.content.get_secret_value()}


def parse_secret(value: object) -> Secret:
    """Parse memoryd's three spellings, and OpenClaw's `"${NAME}"` and `{source: "env", id: "NAME"}`.

    OpenClaw's references to files and programs have rules of their own, and are an error only when they are read.
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
            return Secret("file", SecretStr(path), _mark(path))
        case {"source": "env", "id": str(name)} if name:
            return Secret("env", SecretStr(name))
        case {"source": "file" | "exec" as source, "id": str()}:
            return Secret("unread", SecretStr(f"is a reference of OpenClaw to a secret of source {source}"))
    raise ValueError(EXPECTED_SECRET)


def parse_foreign_secret(value: object) -> Secret | None:
    """Parse a secret in a section of another program; an invalid value is an error only when it is used."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        return parse_secret(value)
    except ValueError:
        return Secret("unread", SecretStr("is no text and no reference"))


def _mark(path: str) -> bytes:
    """Return a digest of a secret file, keyed with a random key of this process; empty if it cannot be read."""
    try:
        file = Path(path).expanduser()
        # regular files only: a pipe may block, and can be read only once
        return blake2b(_first_line(path).encode(), key=_MARKER).digest() if file.is_file() else b""
    except (ConfigError, RuntimeError, OSError, ValueError):
        return b""


def _first_line(path: str) -> str:
    file = Path(path).expanduser()
    try:
        with file.open(encoding="utf-8") as stream:
            return next(iter(stream.read(SECRET_BYTES_MAX).strip().splitlines()), "").rstrip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"cannot read the secret in file {path}: {error}"]) from error


SecretValue = Annotated[
    Secret,
    PlainValidator(parse_secret),
    PlainSerializer(mask_secret),
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
    PlainSerializer(lambda secret: None if secret is None else mask_secret(secret)),
    WithJsonSchema({}),
]
