"""The table of all commands, and the overview that `memoryctl --help` prints, made without click."""

import os
import sys

ABOUT = (
    "Ask memoryd, the long-term memory of your agents.",
    "Exit codes: 0 done, 1 error, 2 usage, 3 nothing found that answers, 4 incomplete answer with --strict, 69 memoryd "
    "is not running, 75 it must be stopped first, 77 not permitted, 78 wrong configuration.",
)
OPTIONS = {
    "--version": "Show the version and exit.",
    "--json": "Print the answer, or the error, as JSON.",
    "--socket PATH": "Socket of the daemon (else $MEMORYD_SOCKET, else that of your user).",
    "--agent ID": "Ask as this agent (else $MEMORYD_AGENT_ID, else the default agent or all agents, by command).",
    "-h, --help": "Show this message and exit.",
}
GROUPS = {
    "Ask": (
        ("search", "memory.search", "Find what notes and conversations say about a question"),
        ("recall", "memory.search", "Recall memories about a question, the current ones first"),
        ("get", "memory.search", "Print a document of the memory, or cited lines, exactly"),
        ("memories", "memory.memories", "Show memories one by one; pin, edit and delete them"),
        ("entities", "memory.knowledge", "Show what memories are about; merge and split names"),
        ("opinions", "memory.knowledge", "Show opinions, their confidence, and why they are held"),
        ("sessions", "memory.conversations", "List, read and forget conversations and transcripts"),
    ),
    "Remember": (
        ("remember", "memory.retain", "Remember a text: an important note in today's log"),
        ("retain", "memory.retain", "State a memory as a bullet in today's log"),
        ("capture", "memory.retain", "Keep what a message states, as in a turn of its owner"),
        ("replace", "memory.retain", "Replace what a memory says"),
        ("core", "memory.retain", "Show and edit MEMORY.md, which every session sees"),
        ("qa", "memory.conversations", "Add turns of conversations, and find them in their order"),
        ("team", "local.team", "Share memories with the people of a team"),
        ("import", "memory.transfer", "Take in memories and notes of other programs"),
    ),
    "Look after": (
        ("status", "memory.status", "Show what is well, at work or wrong, and what to do"),
        ("web", "memory.index", "Open the page that shows the memory, in a browser"),
        ("top", "memory.top", "Show requests, queues and caches as they change, until q"),
        ("changes", "memory.changes", "List what memoryd wrote into the workspace"),
        ("undo", "memory.changes", "Take back a change whose lines are still there"),
        ("forget", "memory.changes", "Take a memory out of notes, indexes and turns for good"),
        ("verify", "memory.changes", "Check whether cited lines are unchanged, moved or deleted"),
        ("reflect", "memory.knowledge", "Bring pages and opinions up to date, and make proposals"),
        ("proposals", "memory.knowledge", "Look at what reflect proposes, and accept or reject it"),
        ("disagreements", "memory.knowledge", "List memories that may contradict, and say which hold"),
        ("conflicts", "memory.changes", "Show two versions of a note at once, and settle them"),
        ("eval", "memory.evaluation", "Ask questions whose answers you know; try a change"),
        ("sync", "memory.index", "Read what changed on disk and wait until it is indexed"),
        ("index", "memory.index", "Index all notes, vectors included, and wait for it"),
        ("reindex", "memory.index", "Bring the index in step with the disk"),
    ),
    "Connect": (
        ("init", "local.init", "Write a first configuration, and say what comes next"),
        ("config", "local.config", "Check and show the configuration, or write its schema"),
        ("reload", "memory.index", "Read the configuration again while all goes on"),
        ("service", "local.service", "Have systemd or launchd run memoryd for you"),
        ("models", "local.models", "List, fetch, check and remove embedding models"),
        ("mcp", "local.mcp", "Serve the memory to a client of Model Context Protocol"),
        ("hooks", "local.hooks", "Let an agent program ask memoryd at its own events"),
        ("http", "local.config", "Look after the port on loopback"),
        ("qmd", "local.models", "Work with the qmd index of an agent by hand"),
        ("completion", "local.completion", "Print the script by which a shell completes commands"),
    ),
    "Repair and move": (
        ("doctor", "local.doctor", "Say what is missing or broken, and how to mend it"),
        ("logs", "local.logs", "Show what memoryd said"),
        ("backup", "local.backup", "Write all that cannot be made anew into one file"),
        ("restore", "local.backup", "Bring a backup back"),
        ("export", "memory.transfer", "Write every memory: JSON, Markdown or OKF"),
        ("workspace", "local.backup", "Show workspaces, and move one with all of its history"),
        ("version", "local.completion", "Print the versions of memoryctl and of memoryd"),
    ),
}
"""The commands by purpose, in the order of the help: name, module below `memoryd.cli`, purpose."""


def page() -> str:
    """Return the help as wide as the terminal, but from 50 to 78 columns, as click formats the help of commands."""
    width = min(max(_columns(), 52), 80) - 2
    blocks = ["Usage: memoryctl [OPTIONS] COMMAND [ARGS]...", *("  " + _wrap(text, width, 2) for text in ABOUT)]
    blocks.append(_section("Options", OPTIONS, width))
    names = max(len(name) for group in GROUPS.values() for name, _, _ in group)
    for title, group in GROUPS.items():
        blocks.append(_section(title, {name.ljust(names): f"{purpose}." for name, _, purpose in group}, width))
    return "\n\n".join(blocks)


def _section(title: str, rows: dict[str, str], width: int) -> str:
    text_at = max(map(len, rows)) + 4
    lines = [f"  {name.ljust(text_at - 4)}  {_wrap(text, width, text_at)}" for name, text in rows.items()]
    return "\n".join([f"{title}:", *lines])


def _wrap(text: str, width: int, indent: int) -> str:
    """Return a text in lines of at most `width` characters, indentation included; the first line is not indented."""
    lines = [""]
    for word in text.split():
        if lines[-1] and indent + len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return f"\n{' ' * indent}".join(lines)


def _columns() -> int:
    """Return the columns of the terminal as `shutil.get_terminal_size` does; importing shutil takes too long."""
    try:
        columns = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        columns = 0
    if columns > 0:
        return columns
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ is not None else 1).columns or 80
    except (ValueError, OSError):
        return 80
