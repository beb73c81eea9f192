"""What the fields of requests and replies mean: the docstring below each, read from the source when somebody asks.

pydantic can do it while it makes the models (`use_attribute_docstrings`), but then each start of the daemon reads all
of them for nobody.
"""

import ast
import contextlib
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from memoryd.api.models import Reply, Request


def describe_fields(schema: dict[str, Any]) -> None:
    """Give each property of the shapes of an OpenAPI schema its meaning.

    Where the program was replaced while it runs, its source is gone, and what cannot be read is left out.
    """
    shapes = schema["components"]["schemas"]
    for model in _models(Request, Reply):
        if model.__name__ not in shapes:
            # what others have in common is no shape by itself
            continue
        properties = shapes[model.__name__].get("properties", {})
        for name, text in _docstrings(model):
            field = model.model_fields[name]
            properties[field.alias or name]["description"] = text


def _models(*bases: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for base in bases:
        yield base
        yield from _models(*base.__subclasses__())


def _docstrings(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a model and of those above it, the uppermost first, with their docstrings."""
    for kind in reversed(model.__mro__):
        if issubclass(kind, Request | Reply):
            body = _body_of(kind)
            for field, below in pairwise(body):
                if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                    yield ast.unparse(field.target), inspect.cleandoc(ast.literal_eval(below.value))


def _body_of(kind: type[BaseModel]) -> list[ast.stmt]:
    with contextlib.suppress(OSError, SyntaxError):
        (source,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        if isinstance(source, ast.ClassDef) and source.name == kind.__name__:
            return source.body
    return []
