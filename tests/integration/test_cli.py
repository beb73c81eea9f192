"""memoryctl against a server with the API's replies: its output and exit codes."""

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memoryd import __version__
from memoryd.cli.main import run
from memoryd.wire import Exit
from tests.integration.contract_server import (
    Contract,
    Reply,
    Request,
    agent,
    answer,
    error,
    health,
    hit,
    pending,
    status,
)
from tests.integration.pseudo_terminal import PROGRAM, on_terminal
from tests.waiting import SECONDS

HOSTILE = "\x1b]0;owned\x07\x1b[31mport\x9b2J 18789"
Captured = pytest.CaptureFixture[str]
START = "start it: memoryd; to set it up first: memoryctl init"


def test_search_prints_cited_hits(contract: Contract, capsys: Captured) -> None:
    contract.replies["search"] = (
        200,
        answer(hit(), hit(path="MEMORY.md", startLine=7, endLine=7, heading="", score=0.5)),
    )
    assert run(["search", "which", "port"]) == Exit.DONE
    printed = capsys.readouterr()
    assert printed.out == (
        "1. memory/2026-01-05.md#L3-L4  0.83  Gateway\n"
        "   The gateway listens on port 18789.\n"
        "   It runs on the Mac Studio.\n"
        "\n"
        "2. MEMORY.md#L7  0.50\n"
        "   The gateway listens on port 18789.\n"
        "   It runs on the Mac Studio.\n"
    )
    assert printed.err == ""
    assert contract.bodies("search") == [{"query": "which port"}]


@pytest.mark.parametrize("option", ["-k", "--k", "--limit", "--max-results"])
def test_limit_option_has_aliases(contract: Contract, option: str) -> None:
    assert run(["search", "port", option, "2"]) == Exit.DONE
    assert contract.bodies("search")[0]["maxResults"] == 2


def test_search_sends_every_option(contract: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYD_AGENT_ID", "from-environment")
    options = "--min-score 0.3 --since 2026-01-01 --until 2026-02-01 --path memory/* --path bank/*"
    more = "--source memory --session-key agent:a:main --deadline-ms 500 --explain"
    assert run(["search", "--query", "-what-", *options.split(), *more.split()]) == Exit.DONE
    assert run(["--agent", "a", "search", "x"]) == run(["search", "x", "--agent", "b"]) == Exit.DONE
    assert contract.bodies("search")[0] == {
        "query": "-what-",
        "agent": "from-environment",
        "minScore": 0.3,
        "since": "2026-01-01",
        "until": "2026-02-01",
        "paths": ["memory/*", "bank/*"],
        "sources": ["memory"],
        "sessionKey": "agent:a:main",
        "deadlineMs": 500,
        "explain": True,
    }
    assert [body["agent"] for body in contract.bodies("search")[1:]] == ["a", "b"]


def test_search_reads_question_from_stdin(contract: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("which port?\n"))
    assert run(["search", "-"]) == Exit.DONE
    assert contract.bodies("search") == [{"query": "which port?"}]


@pytest.mark.parametrize(
    "arguments",
    [
        ["search"],
        ["search", "  "],
        ["search", "a", "--query", "b"],
        ["search", "a", "-k", "0"],
        ["nonsense"],
        ["search", "a", "-k", "99999999999999999999"],
        ["search", "a", "--min-score", "nan"],
        ["search", "a", "--min-score", "inf"],
        ["search", "a", "--deadline-ms", "99999999999999999999"],
        ["sync", "--timeout", "nan"],
        ["get", ""],
        ["get", " "],
        ["get", "a.md", "--from", "99999999999999999999"],
        ["get", "a.md", "--lines", "99999999999999999999"],
        ["get", "a.md#L0"],
        ["get", "a.md#L9-L2"],
        ["get", "a.md#L3-L999999999"],
        ["get", "a.md#L1-L5001"],
        ["get", "a.md#L1", "--from", "2"],
        ["sync", "--wait", "forever"],
        ["search", "a", "--nonsense"],
        ["--nonsense", "search", "a"],
        ["search", "a", "--limit"],
        ["status", "--watch=no"],
        ["models", "pull", "--nonsense"],
    ],
)
def test_wrong_usage_is_reported(contract: Contract, capsys: Captured, arguments: list[str]) -> None:
    assert run(arguments) == Exit.USAGE
    assert "Error: " in capsys.readouterr().err
    for asked in (["--json", *arguments], [arguments[0], "--json", *arguments[1:]]):
        assert run(asked) == Exit.USAGE
        printed = capsys.readouterr()
        assert json.loads(printed.out)["error"]["code"] == "invalid_request"
        assert printed.err == ""
    assert not contract.requests


@pytest.mark.parametrize("arguments", [["undo"], ["undo", "4ac1d2e3"]])
def test_undo_without_valid_number_explains_where_to_find_it(
    contract: Contract, capsys: Captured, arguments: list[str]
) -> None:
    assert run(arguments) == Exit.USAGE
    assert "number of a change" in (said := capsys.readouterr().err)
    assert "memoryctl changes lists them" in said


def test_empty_result_has_a_reason(contract: Contract, capsys: Captured) -> None:
    contract.replies["search"] = 200, answer(reason="nothing is indexed yet", mode="lexical")
    assert run(["search", "port"]) == Exit.NOTHING_FOUND
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "note: nothing found: nothing is indexed yet\n")


def test_hits_without_answer_are_marked(contract: Contract, capsys: Captured) -> None:
    hits = [hit(verdict="none", duplicates=2), hit(path="bank/x.md", verdict="none")]
    contract.replies["search"] = 200, answer(*hits, verdict="none", reason="the nearest is within the noise")
    assert run(["search", "port"]) == Exit.NOTHING_FOUND
    printed = capsys.readouterr()
    heads = [line for line in printed.out.splitlines() if "#L3" in line]
    assert heads[0] == "1. memory/2026-01-05.md#L3-L4  0.83  (no answer)  (+2 copies)  Gateway"
    assert printed.err == "note: nothing answers: the nearest is within the noise\n"
    assert run(["search", "port", "--json"]) == Exit.NOTHING_FOUND
    assert json.loads(capsys.readouterr().out)["results"][1]["verdict"] == "none"
    contract.replies["search"] = 200, answer(hit(), hits[1])
    assert run(["search", "port"]) == Exit.DONE
    assert capsys.readouterr().out.count("(no answer)") == 1


@pytest.mark.parametrize("options", [[], ["--json"], ["--strict"]])
def test_search_without_working_arm_is_an_error(contract: Contract, capsys: Captured, options: list[str]) -> None:
    arms = {"lexical": {"state": "off", "reason": "off"}, "vector": {"state": "failed", "reason": "no model"}}
    reason = "no arm of the search could answer: no model"
    contract.replies["search"] = 200, answer(reason=reason, mode="none", health=health(complete=False, arms=arms))
    assert run(["search", "port", *options]) == Exit.ERROR
    printed = capsys.readouterr()
    assert reason in (json.loads(printed.out)["reason"] if "--json" in options else printed.err)
    assert "nothing found" not in printed.err


def test_missing_arm_is_a_note_or_exit_code_with_strict(contract: Contract, capsys: Captured) -> None:
    arms = {"lexical": {"state": "ok"}, "vector": {"state": "off", "reason": "the model is being downloaded"}}
    state = health(complete=False, arms=arms, pendingFiles=1, pendingEmbeddings=1200)
    contract.replies["search"] = 200, answer(hit(), mode="lexical", verdict="weak", health=state)
    assert run(["search", "port"]) == Exit.DONE
    assert capsys.readouterr().err.splitlines() == [
        "note: only weak matches: the answer may not be among them",
        "note: search by meaning did not take part: the model is being downloaded",
        "note: 1 file not yet indexed",
    ]
    assert run(["search", "port", "--strict"]) == Exit.INCOMPLETE
    assert run(["search", "port", "--strict", "--json"]) == Exit.INCOMPLETE
    contract.replies["search"] = 200, answer(hit())
    assert run(["search", "port", "--strict"]) == Exit.DONE


def test_memories_without_working_arm_are_an_error(contract: Contract, capsys: Captured) -> None:
    arms = {"lexical": {"state": "off", "reason": "off"}, "vector": {"state": "failed", "reason": "no model"}}
    nothing = {"memories": [], "verdict": "none", "reason": "no arm of recall could answer: no model", "took_ms": 1.5}
    contract.replies["memories"] = 200, nothing | {"health": health(complete=False, arms=arms)}
    assert run(["memories", "search", "port"]) == Exit.ERROR
    assert "no answer: no arm of recall could answer: no model" in capsys.readouterr().err
    # that the memories could be read is no search for them
    read = arms | {"memories": {"state": "ok", "reason": ""}}
    contract.replies["memories"] = 200, nothing | {"health": health(complete=False, arms=read)}
    assert run(["memories", "search", "port"]) == Exit.ERROR
    capsys.readouterr()
    arms["lexical"] = {"state": "ok", "reason": ""}
    contract.replies["memories"] = 200, nothing | {"reason": None, "health": health(complete=False, arms=arms)}
    assert run(["memories", "search", "port"]) == Exit.NOTHING_FOUND
    told = capsys.readouterr().err.splitlines()
    assert told == ["note: nothing found: no memory matches", "note: search by meaning failed: no model"]
    assert run(["memories", "search", "port", "--strict"]) == Exit.INCOMPLETE


def test_list_without_a_conversation_says_so(contract: Contract, capsys: Captured) -> None:
    contract.replies["sessions"] = 200, {"sessions": [], "total": 0, "withheldKeys": 0, "agentsMarks": []}
    assert run(["sessions", "list"]) == Exit.NOTHING_FOUND
    assert capsys.readouterr().err == "note: there is no conversation, and no transcript\n"


def test_json_prints_the_reply(contract: Contract, capsys: Captured) -> None:
    reply = answer(hit(snippet=HOSTILE + " 端口"))
    contract.replies["search"] = 200, reply
    assert run(["search", "port", "--json"]) == Exit.DONE
    printed = capsys.readouterr()
    assert json.loads(printed.out) == reply
    assert "端口" in printed.out
    assert not {"\x1b", "\x9b"} & set(printed.out)
    assert printed.err == ""


def test_escape_sequences_in_notes_are_neutralised(contract: Contract) -> None:
    contract.replies["search"] = 200, answer(hit(snippet=HOSTILE, path=f"memory/{HOSTILE}.md", heading=HOSTILE))
    code, seen = on_terminal("search", "port", NO_COLOR="1")
    assert code == Exit.DONE
    path = r"memory/\x1b]0;owned\x07\x1b[31mport\x9b2J 18789.md"
    assert seen == f"1. {path}#L3-L4  0.83  port 18789\n   port 18789\n"


def test_hits_of_conversations_are_cited_with_marked_lines(contract: Contract, capsys: Captured) -> None:
    turn = hit(
        path="session:main-20261018", source="sessions", startLine=33, endLine=34, heading="", snippet="User: why"
    )
    far = {
        "path": "sessions/main/0d9f.jsonl",
        "source": "sessions",
        "heading": "",
        "snippet": "User: which port\nAssistant: 18789\nUser: thanks\n\nSource: sessions/main/0d9f.jsonl#L120-L125",
        "snippetStartLine": 120,
        "snippetEndLine": 131,
        "snippetLines": [120, 125, 131],
        "focus": {"startLine": 120, "endLine": 125},
    }
    contract.replies["search"] = 200, answer(turn, hit(**far))
    assert run(["search", "port", "--sources", "sessions", "--source", "memory"]) == Exit.DONE
    assert contract.bodies("search")[-1]["sources"] == ["sessions", "memory"]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1. session:main-20261018#Q17  0.83"
    assert lines[3] == "2. sessions/main/0d9f.jsonl#L120-L125  0.83"
    marks = [line[:3].strip() for line in lines[4:7]]
    assert marks[0] == marks[1] != marks[2]


@pytest.mark.parametrize(
    "cited", ["session:main-20261018", "session:main-20261018#Q15-Q17", "sessions/main/0d9f.jsonl#L120", "session:x#L3"]
)
def test_get_requests_conversations_like_notes(contract: Contract, cited: str) -> None:
    run(["get", cited])
    (request,) = contract.requests
    assert request.path == f"/v1/files/{cited.partition('#')[0]}"
    assert ("from" in request.query) is ("#" in cited)


def test_get_requests_notes_named_like_conversations(contract: Contract) -> None:
    for path in ("sessions/main/plan.md", "sessions/2026-10-18.md", "session:plan.md"):
        assert run(["get", path]) == Exit.NOTHING_FOUND
    assert len(contract.requests) == 3


def test_colour_is_used_only_on_terminals_without_no_color(contract: Contract, capsys: Captured) -> None:
    for command in (["search", "port"], ["status"]):
        assert "\x1b[" in on_terminal(*command)[1]
        assert "\x1b[" not in on_terminal(*command, NO_COLOR="1")[1]
        assert run(command) == Exit.DONE
        assert "\x1b" not in capsys.readouterr().out


def test_pending_vectors_are_a_note(contract: Contract, capsys: Captured) -> None:
    contract.replies["search"] = 200, answer(hit(), health=health(pendingEmbeddings=1200))
    assert run(["search", "port", "--strict"]) == Exit.DONE
    assert capsys.readouterr().err == "note: 1,200 passages not yet found by meaning, only by words\n"


def test_explain_shows_scores_and_misses(contract: Contract, capsys: Captured) -> None:
    contract.replies["search"] = 200, answer(hit(), misses=[hit(path="bank/x.md", textScore=None, snippet="near")])
    assert run(["search", "port", "--explain"]) == Exit.DONE
    assert capsys.readouterr().out.splitlines()[3:] == [
        "   words 0.900 · vector 0.750 · answerable",
        "",
        "beyond --max-results or below --min-score:",
        "",
        "- bank/x.md#L3-L4  0.83  Gateway",
        "   near",
        "   vector 0.750 · answerable",
    ]
    assert run(["search", "port"]) == Exit.DONE
    assert "words 0.900" not in capsys.readouterr().out


def test_get_prints_the_text_exactly(contract: Contract) -> None:
    text = "\x1b[31mraw\r\n\ttext 端口, no newline at the end"
    contract.replies["files"] = (
        200,
        {"path": "a.md", "text": text, "from": 1, "lines": 2, "totalLines": 2, "sha256": ""},
    )
    done = subprocess.run([*PROGRAM, "get", "a.md"], capture_output=True, check=True, env={**os.environ, "LC_ALL": "C"})
    assert done.stdout == text.encode()
    assert on_terminal("get", "a.md")[1] == "raw\n\ttext 端口, no newline at the end\n"


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        (["#L3"], {"from": "3", "lines": "1"}),
        (["#L2-L4"], {"from": "2", "lines": "3"}),
        (["", "--from", "2", "--lines", "9"], {"from": "2", "lines": "9"}),
        ([""], {}),
    ],
)
def test_get_takes_citations_and_options(contract: Contract, arguments: list[str], query: dict[str, str]) -> None:
    assert run(["get", "memory/2026-01-05.md" + arguments[0], *arguments[1:]]) == Exit.DONE
    assert contract.requests[0].query == query


def test_get_says_where_to_continue(contract: Contract, capsys: Captured) -> None:
    reply = {"path": "a.md", "text": "x\n", "from": 1, "lines": 120, "totalLines": 412, "sha256": ""}
    contract.replies["files"] = 200, reply | {"truncated": True, "nextFrom": 121}
    assert run(["get", "a.md"]) == Exit.DONE
    assert capsys.readouterr().err == "note: cut short, the document has 412 lines; go on with --from 121\n"
    assert run(["get", "a.md", "--lines", "120"]) == Exit.DONE
    assert capsys.readouterr().err == "", "it printed what was requested"


def test_get_of_an_empty_document_prints_nothing(contract: Contract, capsys: Captured) -> None:
    contract.replies["files"] = 200, {"path": "a.md", "text": "", "from": 1, "lines": 0, "totalLines": 0, "sha256": ""}
    assert run(["get", "a.md"]) == Exit.DONE
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "said", "expected"),
    [
        (["#L900"], "there is no line 900, the document has 4 lines", Exit.NOTHING_FOUND),
        (["#L900-L1200"], "there is no line 900, the document has 4 lines", Exit.NOTHING_FOUND),
        (["", "--from", "5"], "there is no line 5, the document has 4 lines", Exit.NOTHING_FOUND),
        (["#L3-L900"], "the document ends at line 4", Exit.DONE),
        (["#L3-L4"], "", Exit.DONE),
        (["", "--from", "3", "--lines", "900"], "", Exit.DONE),
    ],
)
def test_get_says_where_the_document_ends(
    contract: Contract, capsys: Captured, arguments: list[str], said: str, expected: Exit
) -> None:
    assert run(["get", "memory/2026-01-05.md" + arguments[0], *arguments[1:]]) == expected
    assert capsys.readouterr().err == (f"note: {said}\n" if said else "")
    assert run(["get", "memory/2026-01-05.md" + arguments[0], *arguments[1:], "--json"]) == expected
    assert json.loads(capsys.readouterr().out)["totalLines"] == 4


def test_get_of_missing_document(contract: Contract, capsys: Captured) -> None:
    assert run(["get", "memory/no.md"]) == Exit.NOTHING_FOUND
    assert capsys.readouterr().err == "memoryctl: there is no memory/no.md\nmemoryctl search finds names\n"
    assert run(["get", "memory/no.md", "--json"]) == Exit.NOTHING_FOUND
    printed = capsys.readouterr()
    assert json.loads(printed.out) == error("not_found", "there is no memory/no.md", "memoryctl search finds names")
    assert printed.err == ""


def test_refusal_is_an_error(contract: Contract, capsys: Captured) -> None:
    contract.replies["search"] = 403, error("denied", "this session may not ask")
    assert run(["search", "port"]) == Exit.ERROR
    assert capsys.readouterr().err == "memoryctl: this session may not ask\n"


@pytest.mark.parametrize("command", [["status"], ["search", "x"], ["get", "x"], ["sync"], ["reindex"]])
def test_daemon_not_running(tmp_path: Path, capsys: Captured, command: list[str]) -> None:
    socket = tmp_path / "no.sock"
    assert run([*command, "--socket", str(socket)]) == Exit.NOT_RUNNING
    printed = capsys.readouterr()
    assert printed.err == f"memoryctl: memoryd is not running: nothing answers on {socket}\n{START}\n"
    assert printed.out == ""
    assert run([*command, "--socket", str(socket), "--json"]) == Exit.NOT_RUNNING
    assert json.loads(capsys.readouterr().out)["error"]["hint"] == START


def test_version_with_and_without_a_daemon(contract: Contract, tmp_path: Path, capsys: Captured) -> None:
    assert run(["version", "--json"]) == Exit.DONE
    assert json.loads(capsys.readouterr().out) == {"client": __version__, "daemon": "0.1.0"}
    assert run(["version"]) == Exit.DONE
    assert "memoryd is of another version: restart it" in capsys.readouterr().err
    contract.replies["status"] = (200, status() | {"version": __version__})
    assert run(["version"]) == Exit.DONE
    assert capsys.readouterr() == (f"memoryctl {__version__}\nmemoryd   {__version__}\n", "")
    assert run(["--socket", str(tmp_path / "no.sock"), "version"]) == Exit.DONE
    assert capsys.readouterr().out == f"memoryctl {__version__}\nmemoryd   not running\n"
    assert run(["--version"]) == Exit.DONE
    assert capsys.readouterr().out == f"memoryctl {__version__}\n"


def test_verbose_status_shows_all_parts(contract: Contract, capsys: Captured) -> None:
    worker = {"phase": "waiting", "pid": None, "rssBytes": 0, "restarts": 2, "lastError": "killed by signal 9"}
    worker |= {"gpuLayers": 12, "offloads": False}
    transfer = {"doneBytes": 12_000_000, "totalBytes": 24_000_000, "step": "downloading"}
    embedder = {
        "state": "downloading",
        "reason": "first start",
        "since": "2026-01-05T10:00:00Z",
        "progress": transfer,
        "worker": worker,
    }
    contract.replies["status"] = (
        200,
        status(
            agent(embedded=1205, pendingEmbeddings=1205, embedder=embedder),
            agent(
                id="two",
                pendingCaptures=2,
                watcher={"mode": "scan", "ok": False},
                vector={"enabled": True, "available": False, "engine": None, "dimensions": None},
                degraded=[{"part": "watcher", "reason": "inotify limit [red]", "since": "2026-01-05T10:00:00Z"}],
                roots=[{"path": "/mnt/stick", "state": "missing", "files": 3, "reason": "unmounted"}],
                skipped=[{"path": "memory/big.md", "reason": "larger than 64 MiB"}],
                skippedCount=61,
            ),
        ),
    )
    assert run(["status", "--verbose"]) == Exit.DONE
    printed = capsys.readouterr().out
    words = " ".join(printed.split())
    for text in (
        "memoryd 0.1.0 runs, and 1 thing is wrong",
        "pid 4711 · up 2 h 3 min",
        "2 messages to look at for memories",
        "agent main",
        "214 files · 1,203 chunks",
        "memories 310 · lines 342 · pages 12",
        "downloading · downloading 12.0 MB (50 %) · only words are searched until then",
        "worker.phase waiting",
        "worker.restarts 2",
        "worker.gpuLayers 12",
        "worker.lastError killed by signal 9",
        "pendingEmbeddings 1,205",
        "12.3 MB",
        "agent two",
        "inotify limit [red] · began",
        "available no",
        "61 files",
        "memory/big.md · larger than 64 MiB",
        "heldAnswers 12 · heldBytes 8.4 kB · maxHeldAnswers 5,000 · maxHeldBytes 16.8 MB",
        "transcripts.files 9 · transcripts.bytes 4.2 MB · transcripts.maxBytes 2.1 GB",
    ):
        assert text in words
    assert not [line for line in printed.splitlines() if line.endswith(" ")]


def test_status_warns_when_gpu_layers_are_not_offloaded(contract: Contract, capsys: Captured) -> None:
    worker = {"phase": "ready", "pid": 99, "rssBytes": 12_000_000, "restarts": 0, "lastError": None}
    embedder = {"state": "ready", "reason": None, "since": "2026-01-05T10:00:00Z", "progress": None}
    for layers, offloads, is_told in ((12, False, True), (0, False, False), (None, False, False), (12, True, False)):
        ready = {**embedder, "worker": {**worker, "gpuLayers": layers, "offloads": offloads}}
        contract.replies["status"] = 200, status(agent(embedder=ready))
        assert run(["status"]) == Exit.DONE
        assert ("no graphics card is used" in " ".join(capsys.readouterr().out.split())) == is_told


def test_status_shows_text_model_and_destination(contract: Contract, capsys: Captured) -> None:
    llm = {
        "provider": "openai",
        "model": "gpt-4o-mini",
        "state": "ready",
        "reason": None,
        "since": "2026-01-05T10:00:00+00:00",
        "destination": "api.openai.com",
        "callsToday": 12,
        "callsPerDay": 1000,
        "worker": None,
    }
    contract.replies["status"] = 200, status(agent(llm=llm))
    assert run(["status", "--verbose"]) == Exit.DONE
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "ok text model gpt-4o-mini · ready" in lines
    assert "note sends to api.openai.com · memory text" in lines
    assert "callsToday 12 · callsPerDay 1,000" in " ".join(lines)


def test_status_shows_the_reranker_and_its_process(contract: Contract, capsys: Captured) -> None:
    worker = {"phase": "ready", "pid": 99, "rssBytes": 12_000_000, "restarts": 1, "lastError": None}
    worker |= {"gpuLayers": None, "offloads": True}
    reranker = {
        "state": "ready",
        "reason": None,
        "since": "2026-01-05T10:00:00+00:00",
        "model": "bge-reranker-base",
        "family": "bge-reranker",
        "worker": worker,
    }
    contract.replies["status"] = 200, status(agent(reranker=reranker))
    assert run(["status", "--verbose"]) == Exit.DONE
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "ok reranker bge-reranker-base · ready" in lines
    process = "worker.phase ready · worker.pid 99 · worker.rssBytes 12.0 MB · worker.restarts 1"
    assert process in " ".join(lines)


def test_late_reranker_is_a_note(contract: Contract, capsys: Captured) -> None:
    late = {"state": "timeout", "reason": "it read 3 of 20 texts within 1.5 s"}
    arms = {"lexical": {"state": "ok"}, "vector": {"state": "ok"}, "rerank": late}
    contract.replies["search"] = 200, answer(hit(), health=health(complete=False, arms=arms))
    assert run(["search", "port"]) == Exit.DONE
    assert "note: the rerank arm was too slow: it read 3 of 20 texts within 1.5 s" in capsys.readouterr().err


def test_status_of_one_agent(contract: Contract, capsys: Captured) -> None:
    contract.replies["status"] = 200, status(agent(id="one"), agent(id="two"))
    assert run(["status", "--agent", "two", "--json"]) == Exit.DONE
    assert [agent["id"] for agent in json.loads(capsys.readouterr().out)["agents"]] == ["two"]
    assert run(["status", "--agent", "three"]) == Exit.ERROR
    assert capsys.readouterr().err == "memoryctl: no agent 'three' is configured\nthere is: one, two\n"


def test_watched_status_runs_until_interrupted(contract: Contract) -> None:
    code, seen = on_terminal("status", "--watch", interrupt_at="agent main")
    assert code == 130
    assert "Traceback" not in seen


@pytest.mark.parametrize(
    ("goal", "reply", "sentence", "code"),
    [
        ("indexed", pending(0, 1200, complete=True), "indexed; 1,200 passages to embed", Exit.DONE),
        ("embedded", pending(complete=True), "indexed and embedded", Exit.DONE),
        ("none", pending(3), "asked for; 3 files to index", Exit.DONE),
        (
            "indexed",
            pending(3, 5, complete=False),
            "not finished; 3 files to index and 5 passages to embed",
            Exit.ERROR,
        ),
    ],
)
def test_sync(
    contract: Contract, capsys: Captured, goal: str, reply: dict[str, object], sentence: str, code: Exit
) -> None:
    contract.replies["sync"] = 200, reply
    assert run(["sync", "--wait", goal, "--timeout", "0"]) == code
    assert capsys.readouterr().out == sentence + "\n"
    assert contract.bodies("sync")[0]["wait"] == goal


def test_sync_repeats_until_complete(contract: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryd.cli.invocation.SLICE_SECONDS", 0.0)
    left = iter([pending(2, complete=False), pending(1, complete=False), pending(complete=True)])
    contract.replies["sync"] = lambda _request: (200, next(left))
    assert run(["sync", "--timeout", "5"]) == Exit.DONE
    assert len(contract.bodies("sync")) == 3


def test_reindex_waits_for_completion(contract: Contract, capsys: Captured) -> None:
    assert run(["reindex", "--embeddings", "--agent", "a"]) == Exit.DONE
    assert contract.bodies("reindex") == [{"agent": "a", "embeddings": True}]
    assert contract.bodies("sync")[0]["wait"] == "embedded"
    assert capsys.readouterr().out == "indexed and embedded\n"


def test_reindex_without_waiting(contract: Contract, capsys: Captured) -> None:
    assert run(["reindex", "--force", "--no-wait", "--json"]) == Exit.DONE
    assert json.loads(capsys.readouterr().out) == pending(files=214)
    assert not contract.bodies("sync")


def test_sync_shows_progress_bar_and_stops_when_interrupted(contract: Contract) -> None:
    asked = iter([agent(pendingFiles=40)])
    is_over = threading.Event()

    def never(_request: Request) -> Reply:
        is_over.wait(SECONDS)
        return 200, pending(10, complete=False)

    contract.replies["status"] = lambda _request: (200, status(next(asked, agent(pendingFiles=10))))
    contract.replies["sync"] = never
    code, seen = on_terminal("sync", interrupt_at="30 of 40 files")
    is_over.set()
    assert code == 130
    assert "indexing" in seen
    assert "Traceback" not in seen


def test_closed_pipe_is_no_error(contract: Contract) -> None:
    contract.replies["search"] = 200, answer(*[hit(snippet="x" * 5000) for _ in range(100)])
    child = subprocess.Popen([*PROGRAM, "search", "port"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read(10)
    child.stdout.close()
    assert child.stderr is not None
    assert child.stderr.read() == b""
    child.stderr.close()
    child.wait(SECONDS)


@pytest.mark.parametrize(
    "arguments", [["search", "port"], ["get", "memory/2026-01-05.md"], ["--json", "status"], ["--help"]]
)
def test_unwritable_output_is_one_sentence(contract: Contract, arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, check=False, text=True)
    assert done.returncode == Exit.ERROR
    assert done.stderr == "memoryctl: the answer cannot be written to standard output: No space left on device\n"


def test_help_names_every_command(capsys: Captured) -> None:
    assert run(["-h"]) == Exit.DONE
    printed = capsys.readouterr().out
    for name in ("status", "search", "get", "sync", "reindex", "models", "version"):
        assert f"  {name} " in printed
