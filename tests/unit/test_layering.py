"""The import rules of the package: each room imports only rooms above it."""

import ast
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from graphlib import CycleError, TopologicalSorter

from memoryd.cli.main import COMMANDS
from tests.package_trees import TREES, nodes

ORDER = [
    "errors",
    "log",
    "wire",
    "replies",
    "domain",
    "retry",
    "config",
    "files",
    "store",
    "moving",
    "sidecar",
    "models",
    "embed",
]
ORDER += ["rerank", "llm", "index", "search", "sessions", "qmd", "memory", "team", "agents", "api", "web", "daemon"]
WINGS = ("", "text", "ranking", "memories", "sessions")
"""The parts of the domain in order; the first is the files outside its folders."""
OTHER_SIDE = {"client", "mcp", "hooks", "service", "cli"}
ABOVE_OTHER_SIDE = {"errors", "wire", "replies", "config", "domain"}
ALLOWED = {("errors", "wire")}
"""An exception has its wire code."""
IN_REACH_OF_COMMANDS = {"files", "log"}
"""What a command that works without a daemon may import as well."""
REACHES_FURTHER = {
    "cli/checks/config.py": {"team"},
    "cli/checks/daemon.py": {"files"},
    "cli/checks/index.py": {"files", "moving", "store"},
    "cli/checks/machine.py": {"files", "store"},
    "cli/checks/models.py": {"embed", "llm", "models", "qmd"},
    "cli/checks/service.py": {"files"},
    "cli/importing/claude.py": {"files", "store"},
    "cli/local/backup.py": {"daemon", "moving"},
    "cli/local/hook_settings.py": {"files"},
    "cli/local/models.py": {"embed", "models"},
    "cli/local/prospects.py": {"embed", "files", "index", "models", "sessions"},
    "cli/local/survey.py": {"files", "models"},
    "cli/local/team.py": {"team"},
    "cli/local/team_server.py": {"team"},
    "cli/local/variant.py": {"files", "store"},
    "cli/written_file.py": {"files"},
}
"""Other modules of the command line that import exactly these rooms of the daemon; imported only in functions."""
MAKES_TASKS = {"cli/local/models.py"}
"""It runs a worker without a daemon, in its own loop."""
INTERFACES = {"pydantic", "starlette", "uvicorn"}
OUTSIDE = {"os", "pathlib", "asyncio", "time", "random", "socket", "subprocess", "structlog", "logging", "apsw"}
DRIVERS = {"apsw", "sqlite3"}
SQL = re.compile(
    r"\bSELECT\b.*\bFROM\b|\b(INSERT|REPLACE) (OR \w+ )?INTO\b|\bUPDATE \w+ SET\b|\bDELETE FROM\b|\bMATCH\b"
    r"|\b(CREATE|DROP|ALTER) (TEMP |UNIQUE |VIRTUAL )?(TABLE|INDEX|TRIGGER|VIEW)\b|\bPRAGMA \w|\bBEGIN IMMEDIATE\b",
    re.DOTALL,
)
"""Statements in capitals, as we write them; MATCH is the operator of FTS5."""
SMALL_SQL = re.compile(
    r"\s*(WITH\b.*\bSELECT\b|SELECT\b.*\bFROM\b|(INSERT|REPLACE) (OR \w+ )?INTO\b|UPDATE .*\bSET\b|DELETE FROM\b"
    r"|(CREATE|DROP|ALTER) .*\b(TABLE|INDEX|TRIGGER|VIEW)\b|PRAGMA \w|BEGIN (IMMEDIATE|EXCLUSIVE|DEFERRED)\b)",
    re.DOTALL | re.IGNORECASE,
)
"""Beginnings of a statement in small letters, or of a sentence; SQLite decides which."""
REPLACES = {"os.replace", "os.rename", "os.renames", "shutil.move", "memoryd.files.writing.exchange"}
"""Functions that may replace a file, besides `replace` and `rename` of Path."""
MAY_REPLACE = {
    "models/fetching.py: self.path.replace(self.target)": "a model, too large to be handed over as bytes",
    "models/packaged.py: model.replace(out)": "a model likewise",
    "store/index/schema.py: part.rename(path.with_name(f'{path.name}.corrupt-{stamp}{suffix}'))": "takes a new name",
    "store/ledger/database.py: part.rename(target.with_name(target.name + suffix))": "takes a new name",
    "moving/workspace_move.py: old.rename(new)": "a folder, to where there is none",
    "moving/workspace_move.py: draft.rename(new)": "a folder, to where there is none",
    "moving/workspace_move.py: plan.old_state.rename(plan.new_state)": "a folder, to where there is none",
    "index/committing.py: self.database.documents.rename(renames)": "rows of the index, no file",
}
"""Calls outside `files/writing.py`, with the reasons."""


def part_of(module: str) -> str:
    return module.split("/")[0].removesuffix(".py")


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted name of everything that is imported, at any level."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def parts_imported(tree: ast.AST) -> set[str]:
    named = {name.split(".")[1] for name in imports(tree) if name.startswith("memoryd.")}
    return named & {*ORDER, *OTHER_SIDE}


def module_of(file: str) -> str:
    return f"memoryd.{file.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__")


def circle_of(trees: Mapping[str, ast.AST]) -> list[str]:
    """Return the files of an import circle, the first again at the end, or an empty list.

    Imports under TYPE_CHECKING or in a function count too.
    """
    files = {module_of(file): file for file in trees}
    wanted: dict[str, set[str]] = {}
    for file, tree in trees.items():
        # an imported name is a file itself, or in one
        found = {files.get(name) or files.get(name.rpartition(".")[0]) for name in imports(tree)}
        wanted[file] = {other for other in found if other is not None and other != file}
    try:
        TopologicalSorter(wanted).prepare()
    except CycleError as exc:
        circle: list[str] = exc.args[1]
        return circle
    return []


def may_import(importer: str, wanted: str) -> bool:
    if importer == wanted or (importer, wanted) in ALLOWED:
        return True
    if importer in OTHER_SIDE:
        return wanted in ABOVE_OTHER_SIDE | OTHER_SIDE
    return importer in ORDER and wanted in ORDER[: ORDER.index(importer)]


def reached(module: str) -> set[str]:
    """Return the rooms that a module imports though they are not above it."""
    return {wanted for wanted in parts_imported(TREES[module]) if not may_import(part_of(module), wanted)}


def test_modules_import_only_rooms_above_them() -> None:
    alone = {command.module for command in COMMANDS.values() if not command.needs_daemon}
    found = {file: reached(file) - (IN_REACH_OF_COMMANDS if module_of(file) in alone else set()) for file in TREES}
    assert {file: parts for file, parts in found.items() if parts} == REACHES_FURTHER


def test_command_that_needs_a_daemon_imports_none_of_its_rooms() -> None:
    asking = {command.module for command in COMMANDS.values() if command.needs_daemon}
    assert asking
    assert [file for file in TREES if module_of(file) in asking and reached(file)] == []


def test_modules_that_reach_further_are_imported_only_in_functions() -> None:
    modules = {module_of(file) for file in TREES if reached(file)}
    importers = {
        module
        for module, tree in TREES.items()
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imports(node)
        if name in modules or name.rpartition(".")[0] in modules
    }
    assert not importers


def wing_of(module: str) -> str:
    """Return the part of the domain of a module: its first folder, or empty."""
    return module.removeprefix("memoryd.domain").strip(".").rpartition(".")[0].partition(".")[0]


def test_modules_of_the_domain_import_only_parts_above_them() -> None:
    domain = {module_of(file): tree for file, tree in TREES.items() if file.startswith("domain/")}
    assert {wing_of(module) for module in domain} == set(WINGS)
    wanted = {
        module: {name if name in domain else name.rpartition(".")[0] for name in imports(tree)} & domain.keys()
        for module, tree in domain.items()
    }
    upward = [
        f"{module} imports {other}"
        for module, others in wanted.items()
        for other in others
        if WINGS.index(wing_of(other)) > WINGS.index(wing_of(module))
    ]
    assert not upward


def test_no_import_is_relative() -> None:
    found = [(module, node) for module, tree in TREES.items() for node in nodes(tree)]
    assert not [module for module, node in found if isinstance(node, ast.ImportFrom) and node.level]


def test_package_does_not_import_tests() -> None:
    names = [(module, name.split(".")[0]) for module, tree in TREES.items() for name in imports(tree)]
    assert not [module for module, name in names if name in ("tests", "bench", "pytest", "unittest")]


def test_tasks_are_created_in_the_daemon_only() -> None:
    makers = [
        f"{module}:{node.lineno}"
        for module, tree in TREES.items()
        for node in nodes(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("create_task", "ensure_future")
        if part_of(module) != "daemon" and module not in MAKES_TASKS
    ]
    assert not makers


def test_domain_does_no_io() -> None:
    domain = {module: tree for module, tree in TREES.items() if part_of(module) == "domain"}
    assert domain
    names = [(module, name.split(".")[0]) for module, tree in domain.items() for name in imports(tree)]
    assert not [(module, name) for module, name in names if name in OUTSIDE]


def test_agents_import_no_interface() -> None:
    """The calls of agents take and return values, whatever the interface."""
    names = [(module, name) for module, tree in TREES.items() if part_of(module) == "agents" for name in imports(tree)]
    assert names
    assert not [(module, name) for module, name in names if name.split(".")[0] in INTERFACES]


def test_every_room_is_in_the_order() -> None:
    assert {part_of(module) for module in TREES} - {"__init__"} <= {*ORDER, *OTHER_SIDE}


def test_no_files_import_each_other_in_a_circle() -> None:
    assert circle_of(TREES) == []


def test_import_circle_is_found_at_any_level() -> None:
    trees = {
        "embed/one.py": "from memoryd.embed.two import Two",
        "embed/two.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from memoryd.embed import three",
        "embed/three.py": "def late():\n    import memoryd.embed.one",
        "embed/__init__.py": "",
        "domain/four.py": "from memoryd.embed.one import One",
    }
    circle = circle_of({file: ast.parse(text) for file, text in trees.items()})
    assert circle[0] == circle[-1]
    assert set(circle) == {"embed/one.py", "embed/two.py", "embed/three.py"}
    trees["embed/three.py"] = ""
    assert circle_of({file: ast.parse(text) for file, text in trees.items()}) == []


def test_upward_import_is_found() -> None:
    tree = ast.parse("from memoryd.daemon.app import Daemon\ndef late():\n    import memoryd.cli.main")
    assert parts_imported(tree) == {"daemon", "cli"}
    assert not may_import("store", "daemon")
    assert not may_import("daemon", "cli")
    assert not may_import("cli", "daemon")
    assert may_import("cli", "client")


def test_privacy_of_a_note_is_decided_in_one_place() -> None:
    askers = {module for module, tree in TREES.items() if any(map(_is_privacy_rule, imports(tree)))}
    assert askers == {"files/ignore.py"}


def _is_privacy_rule(name: str) -> bool:
    return name.startswith("memoryd.domain.text.privacy") and not name.endswith(".PRIVACY_RULE_VERSION")


def makers(tree: ast.AST, made: str) -> list[int]:
    """Return the lines that call `made`, under any imported name."""
    aliases = [alias for node in nodes(tree) if isinstance(node, ast.ImportFrom) for alias in node.names]
    names = {made, *(alias.asname for alias in aliases if alias.name == made and alias.asname)}
    called = [node.func for node in nodes(tree) if isinstance(node, ast.Call)]
    return [
        func.lineno
        for func in called
        if (isinstance(func, ast.Name) and func.id in names) or (isinstance(func, ast.Attribute) and func.attr == made)
    ]


def test_access_is_decided_in_one_place() -> None:
    """Only `api/access.py` creates `Admitted`, so no interface can admit a caller by itself."""
    assert {module for module, tree in TREES.items() if makers(tree, "Admitted")} == {"api/access.py"}


def test_call_is_found_under_any_name() -> None:
    for text in ("Admitted(None, True)", "access.Admitted(None, True)"):
        assert makers(ast.parse(text), "Admitted"), text
    renamed = "from memoryd.domain.access import Admitted as Entry\nEntry(None, True)"
    assert makers(ast.parse(renamed), "Admitted") == [2]
    assert not makers(ast.parse("def ask(admitted: Admitted) -> None:\n    answer(admitted)"), "Admitted")


def replacements(tree: ast.AST) -> list[str]:
    """Return what may replace a file: the source of calls, and the names of imported functions."""
    calls = [node for node in nodes(tree) if isinstance(node, ast.Call)]
    named = [name for name in imports(tree) if name in REPLACES]
    return [*named, *(ast.unparse(call) for call in calls if _replaces(call))]


def _replaces(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return False
    # `replace` of str has two arguments, that of datetime only keywords, that of Path one
    is_of_path = call.func.attr in ("replace", "rename") and len(call.args) + len(call.keywords) == 1
    is_of_time = bool(call.keywords) and call.keywords[0].arg != "target"
    return ast.unparse(call.func) in REPLACES or (is_of_path and not is_of_time)


def test_files_are_replaced_in_one_place() -> None:
    found = {f"{module}: {what}" for module, tree in TREES.items() for what in replacements(tree)}
    assert {call for call in found if not call.startswith("files/writing.py: ")} == MAY_REPLACE.keys()


def test_replacement_of_a_file_is_found() -> None:
    for call in (
        "os.replace(draft, path)",
        "os.rename(draft, path)",
        "shutil.move(draft, path)",
        "draft.replace(path)",
        "folder.joinpath(name).rename(path)",
        "draft.replace(target=path)",
    ):
        assert replacements(ast.parse(call)) == [call]
    assert replacements(ast.parse("from os import replace as put")) == ["os.replace"]
    for other in ("text.replace('a', 'b')", "at.replace(tzinfo=UTC)", "replace(settings, limit=1)", "files.rename()"):
        assert replacements(ast.parse(other)) == []


def drivers_imported(tree: ast.AST) -> set[str]:
    return {name.split(".")[0] for name in imports(tree)} & DRIVERS


def statements(tree: ast.AST) -> list[str]:
    """Return the strings that contain SQL, including f-strings."""
    strings = [node.value for node in nodes(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    whole = [_filled(node) for node in nodes(tree) if isinstance(node, ast.JoinedStr)]
    return [text for text in [*strings, *whole] if SQL.search(text) or (SMALL_SQL.match(text) and _is_parsed(text))]


def _filled(template: ast.JoinedStr) -> str:
    """Return the text of an f-string with a name for each value."""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in template.values)


def _is_parsed(text: str) -> bool:
    """Tell whether SQLite finds no syntax error in a text, or only that its end is missing."""
    with closing(sqlite3.connect(":memory:")) as db:
        try:
            # a placeholder of `format` counts as a name
            db.execute("EXPLAIN " + re.sub(r"\{\w*\}", "x", text))
        except sqlite3.Error as exc:
            return not re.search(r"syntax error|unrecognized token", str(exc))
    return True


def functions_of_a_connection(tree: ast.AST) -> set[str]:
    """Return the names of the functions that take a connection of the driver."""
    functions = [node for node in nodes(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {
        node.name
        for node in functions
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if argument.annotation is not None and ast.unparse(argument.annotation).endswith("apsw.Connection")
    }


def test_only_the_store_uses_sqlite() -> None:
    # a team's PostgreSQL server is not our database
    servers = {"team/members.py", "team/postgres.py"}
    others = {module: tree for module, tree in TREES.items() if part_of(module) != "store" and module not in servers}
    found = {module: [*drivers_imported(tree), *statements(tree)] for module, tree in others.items()}
    assert not {module: what for module, what in found.items() if what}


def test_only_the_store_passes_connections_to_functions() -> None:
    store = {module: tree for module, tree in TREES.items() if part_of(module) == "store"}
    inner = {
        f"memoryd.{module.removesuffix('.py').replace('/', '.')}.{name}"
        for module, tree in store.items()
        for name in functions_of_a_connection(tree)
    }
    assert inner
    others = [(module, name) for module, tree in TREES.items() if module not in store for name in imports(tree)]
    assert not [f"{module} imports {name}" for module, name in others if name in inner]


def test_use_of_sqlite_is_recognised() -> None:
    for driver in (
        "import apsw",
        "from apsw import Connection",
        "def late():\n    import sqlite3",
    ):
        assert drivers_imported(ast.parse(driver)), driver
    for text in (
        "SELECT id\nFROM files",
        "SELECT {} FROM files",
        "INSERT OR IGNORE INTO files (path) VALUES (?)",
        "UPDATE files SET path = ?",
        "DELETE FROM files",
        "CREATE VIRTUAL TABLE words USING fts5(body)",
        "PRAGMA user_version",
        "BEGIN IMMEDIATE",
        "WHERE chunk_words MATCH ?",
    ):
        assert statements(ast.parse(f"sql = {text!r}")), text
        assert statements(ast.parse(f"sql = f'{{table}}' {text!r}")), text
        if not text.startswith("WHERE"):
            assert statements(ast.parse(f"sql = {text.lower()!r}")), text
    for small in (
        "select id from files where path in (",
        "  with recursive a as (select 1) select * from a",
        "create unique index if not exists a on files (path)",
        "update or ignore files set path = ?; delete from files",
    ):
        assert statements(ast.parse(f"sql = {small!r}")), small
    assert statements(ast.parse("sql = f'select id from {table} where id in ({marks})'"))
    for prose in (
        "select one from the list, or update it; no match",
        "Select the model from those that are there.",
        "Delete from the folder what nobody needs.",
        "Create what is wanted, then drop the table of it.",
        "Update the notes and set their time: what is open stays.",
        "Insert into the answer what is asked for.",
        "with an index, select what is new",
    ):
        assert not statements(ast.parse(f"text = {prose!r}")), prose
    assert functions_of_a_connection(ast.parse("def read(db: apsw.Connection, key: str) -> None: ...")) == {"read"}
    assert not functions_of_a_connection(ast.parse("def read(key: str) -> None: ..."))
