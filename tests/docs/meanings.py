"""The docstrings below the members of an enumeration, read from its source."""

import ast
import inspect
from enum import Enum


def meanings(kind: type[Enum]) -> dict[str, str]:
    """Return the docstring of each member by name; raise KeyError if one is missing."""
    source = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(source, ast.ClassDef)
    texts = {}
    for member, text in zip(source.body, source.body[1:], strict=False):
        if isinstance(member, ast.Assign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            texts[ast.unparse(member.targets[0])] = str(text.value.value)
    return {member.name: texts[member.name] for member in kind}
