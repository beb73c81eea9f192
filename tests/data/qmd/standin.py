"""A stand-in for qmd that does what `behaviour.json` beside it says: answers, hangs, crashes, floods or lies.

`{"query": "hang", "update": "exit 1", "results": [...]}`: how each command behaves, "ok" where nothing is said,
"wait" for something else to be said.
Every run leaves a line in `calls.jsonl`. Uses nothing but the standard library and runs as `python -IS`.
"""
# ruff: noqa: T201, PTH108, PTH109, PTH110, PTH118, PTH123  it prints, and imports little: it starts hundreds of times

import json
import os
import signal
import sys
import time
from collections.abc import Callable

HERE = sys.argv[1]
ARGUMENTS = sys.argv[2:]
FLOOD = 20 * 1024 * 1024


def behaviour() -> dict[str, object]:
    with open(f"{HERE}/behaviour.json", encoding="utf-8") as file:
        held: dict[str, object] = json.load(file)
    return held


def note(**fields: object) -> None:
    with open(f"{HERE}/calls.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps({"pid": os.getpid(), "argv": ARGUMENTS, **fields}) + "\n")


def results() -> str:
    return json.dumps(behaviour().get("results", []), indent=2)


def open_descriptors() -> list[int]:
    return [number for number in range(64) if is_open(number)]


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def hang() -> None:
    time.sleep(600)


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def ignore_term() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(600)


def leave_grandchild() -> None:
    os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600")
    print(results(), flush=True)


def hang_with_grandchild() -> None:
    os.spawnlp(os.P_NOWAIT, "sh", "sh", "-c", "trap '' TERM; sleep 600")
    time.sleep(600)


def flood_out() -> None:
    sys.stdout.write("x" * FLOOD)


def flood_error() -> None:
    sys.stderr.write("y" * FLOOD)
    print(results())


def delete_models() -> None:
    """Delete whatever the configuration names as a model, as qmd does with one that it takes for broken."""
    for role in ("embed", "generate", "rerank"):
        path = configured_model(role)
        is_found = os.path.exists(path)
        note(deleted=[role, path, os.path.realpath(path)], found=is_found)
        if os.path.lexists(path):
            os.unlink(path)
    sys.exit("Error: invalid GGUF file, deleted")


def configured_model(role: str) -> str:
    with open(os.path.join(os.environ["XDG_CONFIG_HOME"], "qmd", "index.yml"), encoding="utf-8") as file:
        return next(line.partition(": ")[2].rstrip("\n") for line in file if line.startswith(f"  {role}: "))


WAYS: dict[str, Callable[[], object]] = {
    "ok": lambda: print(results()),
    "hang": hang,
    "crash": crash,
    "ignore TERM": ignore_term,
    "stop": stop,
    "grandchild": leave_grandchild,
    "hang with grandchild": hang_with_grandchild,
    "flood stdout": flood_out,
    "flood stderr": flood_error,
    "banner": lambda: print(f"[node-llama-cpp] loading\n\x1b[2K{results()}"),
    "mark": lambda: print(f"\ufeff{results()}"),
    "half": lambda: print(results()[:-20]),
    "empty": lambda: None,
    "text": lambda: print("Ready."),
    "delete models": delete_models,
    "abort": lambda: (print(results(), flush=True), os.abort()),
}


def act(way: str) -> None:
    """Do one thing; `exit N` and `fail TEXT` end with a status, the latter with the text on stderr."""
    if way.startswith("exit "):
        sys.exit(int(way[5:]))
    if way.startswith("fail "):
        sys.exit(way[5:])
    if way.startswith("warn "):
        print(way[5:], file=sys.stderr)
        way = "ok"
    WAYS[way]()


def serve() -> None:
    """Speak MCP: a line in, a line out."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        held = behaviour()
        name = message.get("params", {}).get("name", message["method"])
        way = str(held.get(f"mcp {name}", "ok"))
        note(mcp=message)
        if way == "rubbish":
            print("llama_model_loader: - kv 0\n{half", flush=True)
        elif way == "flood line":
            sys.stdout.write("z" * FLOOD)
            sys.stdout.flush()
        elif way == "error":
            reply = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": "no"}}
            print(json.dumps(reply), flush=True)
            continue
        elif way.startswith("warn "):
            print(way[5:], file=sys.stderr, flush=True)
        elif way != "ok":
            act(way)
        content = {"results": mcp_results(held)}
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": {"structuredContent": content}}
        print(json.dumps(reply), flush=True)


def mcp_results(held: dict[str, object]) -> list[object]:
    found = held.get("results", [])
    assert isinstance(found, list)
    return [{**one, "file": one["file"].removeprefix("qmd://")} for one in found]


def main() -> None:
    words = ARGUMENTS[2:] if ARGUMENTS[:1] == ["--index"] else ARGUMENTS
    command = words[0] if words else ""
    note(environment=dict(os.environ), directory=os.getcwd(), descriptors=open_descriptors())
    while (way := str(behaviour().get(command.removeprefix("--"), "ok"))) == "wait":
        time.sleep(0.02)
    if command == "--version" and way == "ok":
        print("qmd 2.8.3 (standin)")
    elif command == "mcp" and way == "ok":
        serve()
    elif command in ("status", "update", "embed", "collection") and way == "ok":
        with open(os.path.join(os.environ["XDG_CACHE_HOME"], "qmd", "index.sqlite"), "ab"):
            pass
        print("  Vectors:  5 embedded")
    elif command == "--version":
        print(f"qmd {way}") if way[0].isdigit() else act(way)
    else:
        act(way)


if __name__ == "__main__":
    main()
