"""The shapes that clients read are those that the API writes: names, types, and what may be left out."""

import importlib
import pkgutil
import types
from collections.abc import Iterator
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from memoryd import replies
from memoryd.api import routes
from memoryd.api.calls import search
from memoryd.api.models import ErrorBody, ErrorReply, Reply
from memoryd.replies.search import ArmReply, HitReply, ServerEvent

assert routes, "all that is served is defined by it"
RAISED = {ErrorBody, ErrorReply}
"""A client raises these."""
OTHERS_READ = {"DocStatsReply", "DocsReply", "DocReply", "DocEditReply", "DocDeleteReply"}
"""The shapes of another program, which its clients read."""
WITHOUT_MODEL = {ServerEvent}
"""Not JSON by itself, but a stream of text."""


def subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for below in model.__subclasses__():
        yield from (below, *subclasses(below))


MODELS = {
    model.__name__: model
    for model in subclasses(Reply)
    if model not in RAISED and model.__module__.startswith("memoryd.") and model.__name__ not in OTHERS_READ
}
TWINS = {
    name: value
    for part in pkgutil.iter_modules(replies.__path__, "memoryd.replies.")
    for name, value in vars(importlib.import_module(part.name)).items()
    if is_typeddict(value) and value not in WITHOUT_MODEL and not name.startswith("_")
}


def decoded(kind: Any) -> object:
    """Return in a form to compare what JSON makes of a type: a model is its name, a time or an enumeration a text."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return frozenset(arguments)
    if origin in (Annotated, NotRequired):
        return decoded(arguments[0])
    if origin in (Union, types.UnionType):
        return ("or", frozenset(map(decoded, arguments)))
    if origin in (list, dict):
        return (origin.__name__, *map(decoded, arguments))
    if kind is datetime or (isinstance(kind, type) and issubclass(kind, Enum)):
        return "str"
    return "Any" if kind is Any else kind.__name__


def sent(field: FieldInfo) -> tuple[object, bool]:
    """Return the type of a field's value, and whether it is always there; one that is left out is never null."""
    if field.exclude_if is None:
        return decoded(field.annotation), True
    kinds = tuple(kind for kind in get_args(field.annotation) if kind is not types.NoneType)
    return decoded(Union[kinds]), False  # noqa: UP007


def test_every_model_has_a_twin_of_its_name() -> None:
    assert len(MODELS) > 30
    assert MODELS.keys() == TWINS.keys()


@pytest.mark.parametrize("name", sorted(MODELS))
def test_twin_has_the_fields_of_the_model(name: str) -> None:
    written = {field.alias or key: sent(field) for key, field in MODELS[name].model_fields.items()}
    twin = TWINS[name]
    hints = get_type_hints(twin)
    read = {key: (decoded(kind), key in twin.__required_keys__) for key, kind in hints.items()}
    assert read == written


def test_difference_is_seen() -> None:
    assert decoded(int | None) != decoded(int)
    assert decoded(list[search.HitReply]) == decoded(list[HitReply]) != decoded(list[ArmReply])
    assert decoded(Literal["a", "b"]) != decoded(Literal["a"])
