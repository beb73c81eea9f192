"""The arguments of the tools: each model is the input schema of a tool, and describes what is wrong with a call."""

import difflib
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field, ValidationError

from memoryd.errors import InvalidRequest
from memoryd.mcp.answers import StrictModel
from memoryd.wire import CORE_CHARS_MAX, LINES_MAX, MEMORY_CHARS_MAX, POSITION_MAX

RESULTS_AT_MOST = 50
_QUESTION_CHARS = 4_000
_SHOWN = 5
"""The maximum number of problems of a call that are reported."""

_Question = Annotated[str, Field(min_length=1, max_length=_QUESTION_CHARS)]
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Day = Annotated[str, Field(min_length=1, max_length=64)]
_Path = Annotated[str, Field(min_length=1, max_length=1_024)]
_Corpus = Literal["all", "notes", "memories", "sessions"]
_CORPORA = {"memory": "notes"}
"""Other names of a corpus, as in OpenClaw's tool; like other names of arguments they are not in the schema."""
_Kind = Annotated[str, Field(min_length=1, max_length=32)]
_MemoryText = Annotated[str, Field(min_length=1, max_length=MEMORY_CHARS_MAX)]
_ResultLimit = Annotated[int, Field(ge=1, le=RESULTS_AT_MOST)]
_Position = Annotated[int, Field(ge=1, le=POSITION_MAX)]
_CoreText = Annotated[str, Field(min_length=1, max_length=CORE_CHARS_MAX)]


class SearchArguments(StrictModel):
    """Arguments of memory_search."""

    query: _Question
    """The question, in words."""
    corpus: Annotated[_Corpus, BeforeValidator(lambda name: _CORPORA.get(str(name), name))] = "all"
    """What to search: notes are files, memories single facts, sessions conversations."""
    max_results: _ResultLimit | None = Field(None, validation_alias=AliasChoices("max_results", "maxResults", "top_k"))
    """Maximum number of results; else as configured."""
    min_score: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, validation_alias=AliasChoices("min_score", "minScore")
    )
    """For notes and sessions, only results with this score or the exact words; else as configured."""
    scope: _Name | None = None
    """Only memories of this scope, such as workspace, global, agent:ID."""
    since: _Day | None = None
    """Only this day or later: 2026-10-01, or 30d."""
    until: _Day | None = None
    """Only this day or earlier."""
    path: _Path | None = None
    """Only in this file, folder or glob; not with corpus memories."""


class GetArguments(StrictModel):
    """Arguments of memory_get."""

    path: _Path | None = None
    """A file, or a citation: memory/2026-10-18.md#L3-L5, session:ID#Q3."""
    id: _Name | None = None
    """A memory, instead of a path."""
    from_line: _Position | None = Field(None, alias="from")
    """The first line, from 1."""
    lines: Annotated[int, Field(ge=1, le=LINES_MAX)] | None = None
    """Maximum number of lines."""
    column: _Position | None = None
    """The first character of that line, from 1."""


class RecallArguments(StrictModel):
    """Arguments of recall."""

    query: _Question
    """The question, in words."""
    k: _ResultLimit | None = None
    """Maximum number of memories and passages; else as configured."""
    budget: Annotated[int, Field(ge=0, le=100_000)] | None = None
    """Maximum tokens of the answer; never more than the server allows."""
    since: _Day | None = None
    """Only what happened on this day or later: 2026-10-01, or 30d."""
    until: _Day | None = None
    """Only what happened on this day or earlier."""
    as_of: _Day | None = None
    """What was true on this day."""
    known_by: _Day | None = None
    """What was known on this day."""
    entity: _Name | None = None
    """Only memories about this entity, by any of its names."""
    kind: _Kind | None = None
    """Only memories of this kind, such as preference, opinion, lesson."""
    scope: _Name | None = None
    """Only memories of this scope, such as workspace, global, agent:ID."""


class NoArguments(StrictModel):
    """Arguments of a tool that takes none."""


class CoreAddArguments(StrictModel):
    """Arguments of core_edit if nothing may be replaced."""

    action: Literal["append", "insert"]
    """append: at the end; insert: below the line `after`."""
    text: _CoreText
    """The lines to add."""
    after: _CoreText | None = None
    """With insert: a line that occurs once, such as ## People."""
    expected: _Name | None = None
    """Write only if the file has this sha256."""


class CoreEditArguments(StrictModel):
    """Arguments of core_edit."""

    action: Literal["append", "insert", "replace"]
    """append: at the end; insert: below the line `after`; replace: `old` by `text`."""
    text: Annotated[str, Field(max_length=CORE_CHARS_MAX)]
    """The lines to add, or the replacement of `old`."""
    after: _CoreText | None = None
    """With insert: a line that occurs once, such as ## People."""
    old: _CoreText | None = None
    """With replace: a text that occurs once."""
    expected: _Name | None = None
    """Write only if the file has this sha256."""


class AddArguments(StrictModel):
    """Arguments of memory_add."""

    text: _MemoryText
    """One fact, in one sentence or a few, in the language in which it was said."""
    kind: _Kind | None = None
    """Its kind, such as preference, fact, lesson."""
    importance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    """Its importance, 0 to 1."""
    scope: _Name | None = None
    """Its scope, such as agent:ID; else as configured."""
    tags: Annotated[list[_Name], Field(max_length=16)] | None = None
    """Labels."""


class MemoryArguments(StrictModel):
    """Arguments of tools on one memory."""

    id: _Name
    """The memory, as memory_search and recall name it."""


class ReplaceArguments(MemoryArguments):
    """Arguments of memory_replace."""

    text: _MemoryText
    """What is true now, in one sentence or a few, in the language in which it was said."""


class PromoteArguments(MemoryArguments):
    """Arguments of memory_promote."""

    share: bool = False
    """Whether to share it; else only return the line that would be shared, and who would read it."""


def read(model: type[StrictModel], arguments: dict[str, Any] | None) -> StrictModel:
    """Return the arguments of a call. Raises InvalidRequest, which names the problems but not the values."""
    try:
        return model.model_validate(arguments or {})
    except ValidationError as exc:
        errors = exc.errors(include_input=False, include_url=False, include_context=False)
        problems = [_problem(model, error["loc"], error["type"], error["msg"]) for error in errors[:_SHOWN]]
        problems += [f"and {len(errors) - _SHOWN} more"] * (len(errors) > _SHOWN)
        takes = ", ".join(_names(model)) or "no arguments"
        raise InvalidRequest("; ".join(problems), hint=f"the tool takes: {takes}") from exc


def _names(model: type[StrictModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _problem(model: type[StrictModel], place: tuple[int | str, ...], kind: str, message: str) -> str:
    name = ".".join(str(part)[:64] for part in place if not isinstance(part, str) or not part.startswith("constrained"))
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(name, _names(model), n=1)
        return f"{name!r} is not an argument of this tool" + (f"; {near[0]!r} is" if near else "")
    return f"{name}: is missing" if kind == "missing" else f"{name}: {message[0].lower()}{message[1:]}"
