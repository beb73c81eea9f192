"""What the members of an enumeration mean: the docstring below each, which Python itself forgets."""

import ast
import inspect
from enum import Enum


def meanings(kind: type[Enum]) -> dict[str, str]:
    """Return the meaning of each member by its name; raises KeyError if one has none."""
    source = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(source, ast.ClassDef)
    said = {}
    for member, text in zip(source.body, source.body[1:], strict=False):
        if isinstance(member, ast.Assign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            said[ast.unparse(member.targets[0])] = str(text.value.value)
    return {member.name: said[member.name] for member in kind}
