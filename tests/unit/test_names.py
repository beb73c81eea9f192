"""The words of the glossary are in use, replaced words are not, and a public type has one meaning."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.package_trees import ROOT, TREES, nodes

GLOSSARY = ROOT.parent / "docs" / "glossary.md"

REPLACED = {
    "wish": "EmbedderPlan, RemoteSettings",
    "manner": "PromptTemplates",
    "manners": "PromptTemplates",
    "crowd": "dominant",
    "in_turns": "with_pauses; a turn is a question with its answer",
    "patience": "silence, start_wait, timeout",
    "untold": "exclusions",
    "hearing": "TranscriptBuffer",
    "octets": "FileSnapshot, content",
    "turnstile": "ReloadGate",
    "doorkeeper": "LoopbackAuth",
    "shedding": "limit_load",
    "demands": "ScanTriggers",
    "upkeep": "maintenance",
    "footprint": "disk_usage",
    "tails": "url_endings",
    "measures": "counters",
    "standin": "fallback",
    "dealt": "reassigned",
}
"""Former words and what replaced them; they are part of no name."""
REPLACED_TYPES = {
    "Standing": "TermStatistics, Dependencies",
    "Bar": "Threshold",
    "Reach": "CandidateFilter",
    "Near": "VectorMatches",
    "Asked": "CandidateSearch",
    "Rejected": "Unembeddable, RejectedPassage",
    "Wanted": "DownloadRequest, LineRange",
    "Lane": "Purpose, EmbeddingLoop",
    "Plan": "SyncPlan, EmbedderPlan",
    "Phase": "WorkerPhase, ServerPhase",
    "Gate": "AccessPolicy, EndpointBreaker, ReloadGate",
    "Said": "SentenceRole, TextMatcher",
    "Outcome": "a name with Result",
    "Look": "DiskSnapshot, MetricsSnapshot",
    "Given": "Injected",
    "Floors": "Thresholds",
    "Lifts": "Boosts",
    "Placed": "RankedCandidate",
}
"""Former types that had several meanings."""
TWICE: Mapping[str, str] = {
    "Command": "a row of memoryctl, and what the embedding worker is told",
    "Page": "what a browser is shown, and what is read of a long document at a time",
}
"""Public types that exist twice, with the reasons; those of `replies` mirror the API."""
NO_IMPERATIVE = re.compile(
    r"(?:[A-Z][a-z]*[^\Ws]s|The|An?|What|Whether|Where|Why|How|True|False|One|Every|All|Another|As)\b"
)
"""Beginnings of a docstring that are no imperative."""
DESCRIBING = frozenset({"property", "cached_property", "setter"})
"""Decorators of attributes, whose docstring is a noun."""


def names_in(tree: ast.AST) -> Iterator[str]:
    """Yield every name that a module defines."""
    for node in nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


def types_in(tree: ast.Module) -> Iterator[str]:
    """Yield the public types of a module: classes and type aliases."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if re.fullmatch(r"[A-Z][a-z]\w*", name) and not _is_variable(node.value):
                yield name


def _is_variable(value: ast.expr) -> bool:
    """Tell whether a name is a type variable, which means nothing outside its module."""
    return (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("TypeVar", "ParamSpec")
    )


def glossary_words() -> list[str]:
    return re.findall(r"^\| \*\*([^*]+)\*\* \|", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)


def tokens_of(name: str) -> set[str]:
    """Return the words of a name in lower case: `vector` and `spaces` of `_VectorSpaces` or `vector_spaces`."""
    return {token.lower() for token in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


@cache
def all_names() -> set[str]:
    return {name for tree in TREES.values() for name in names_in(tree)} | {Path(module).stem for module in TREES}


def test_words_of_the_glossary_are_in_use() -> None:
    words = glossary_words()
    assert len(words) > 40
    tokens = {token for name in all_names() for token in tokens_of(name)}
    assert not [word for word in words if not all(tokens & _forms(part) for part in word.split())]


def _forms(word: str) -> set[str]:
    """Return the singular and plural forms of a word."""
    return {word, f"{word}s", word.removesuffix("s"), word.removesuffix("y") + "ies", word.removesuffix("ies") + "y"}


def test_replaced_words_are_gone() -> None:
    assert not {name for name in all_names() if name in REPLACED or tokens_of(name) & REPLACED.keys()}


def test_replaced_types_are_gone() -> None:
    types = {name for module, tree in TREES.items() for name in types_in(tree)}
    assert not types & REPLACED_TYPES.keys()


def test_public_type_exists_once() -> None:
    places = defaultdict(list)
    for module, tree in TREES.items():
        for name in types_in(tree):
            places[name].append(module)
    mirrors = {name: [module for module in found if module.startswith("replies/")] for name, found in places.items()}
    rest = {name: [module for module in found if module not in mirrors[name]] for name, found in places.items()}
    twice = {name: places[name] for name in places if len(rest[name]) > 1 or len(mirrors[name]) > 1}
    mirrored = {name: found for name, found in rest.items() if found and mirrors[name]}
    assert twice.keys() == TWICE.keys(), twice
    assert all(any(module.startswith("api/") for module in found) for found in mirrored.values()), mirrored


def docstrings_in(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the public functions and methods, except properties, with their docstrings."""
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
            if not decorators & DESCRIBING and (text := ast.get_docstring(node)):
                yield node.name, text


def test_docstring_of_a_function_is_an_imperative() -> None:
    found = [
        f"{module}: {name}: {text.splitlines()[0]}"
        for module, tree in TREES.items()
        for name, text in docstrings_in(tree)
        if NO_IMPERATIVE.match(text)
    ]
    assert not found


@pytest.mark.parametrize("text", ["Notes a failure.", "The vector.", "A text.", "Whether it is so.", "Gives a row."])
def test_other_beginnings_are_recognised(text: str) -> None:
    assert NO_IMPERATIVE.match(text)


@pytest.mark.parametrize("text", ["Pass it on.", "Note a failure.", "Answer it.", "Theme it.", "Guess."])
def test_imperatives_are_accepted(text: str) -> None:
    assert not NO_IMPERATIVE.match(text)
