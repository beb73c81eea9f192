"""Whether the file of a model that only reads or writes text is here and whole, as doctor tells it. Loads nothing."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from memoryd.cli.checks.finding import Finding
from memoryd.embed.local.local_model import NO_LLAMA, model_file
from memoryd.errors import MemorydError
from memoryd.models.store import ModelStore

Inspected = TypeVar("Inspected")


def model_finding(
    part: str, store: ModelStore, source: str, inspect: Callable[[Path], Inspected], told: Callable[[Inspected], str]
) -> Finding:
    """Say what is wrong with the file that `source` names, or what `told` says of what `inspect` finds in it."""
    try:
        path = store.locate(model_file(source, key=store.key))
        if path is None:
            hint = f"correct {store.key}, or fetch the model: memoryctl models pull"
            return Finding(part, "wrong", f"the model {source} is not here", hint)
        found = inspect(path)
    except MemorydError as exc:
        return Finding(part, "wrong", str(exc), exc.hint)
    if find_spec("llama_cpp") is None:
        return Finding(part, "wrong", NO_LLAMA)
    return Finding(part, "ok", f"{told(found)}: {path}")
