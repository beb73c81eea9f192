"""The real daemon with the real qmd: collections, answers, vectors, crashes and absence."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_workspace
from tests.integration.qmd_standin import LEASE, StandIn
from tests.ranker import write_ranker
from tests.sweeps import swept
from tests.system.qmd_daemon import (
    by_hand,
    daemon_for,
    found,
    is_served_by_another,
    paths,
    processes_below,
    qmd_of,
    updated_after,
    wait_for_qmd,
    with_qmd,
)
from tests.system.test_memoryctl import ask
from tests.waiting import eventually


@contextmanager
def unchanged(workspace: Path) -> Iterator[None]:
    """Check at the end of the block that nothing in the workspace was written."""
    before = write_times(workspace)
    yield
    assert write_times(workspace) == before


def write_times(workspace: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in workspace.rglob("*")}


@pytest.fixture(scope="module")
def herons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """Run qmd over fifty short notes that it ranks first, and longer ones that come after; tests only ask."""
    home = tmp_path_factory.mktemp("herons")
    memory = write_workspace(home / "workspace") / "memory"
    for number in range(50):
        (memory / f"heron-{number}.md").write_text(f"# Heron\n\nThe heron stood at weir {number}.\n")
    filler = "It rained, and the ferry came late from the other bank. "
    late = f"# Summer\n\n{filler * 20}\n\nThe old weir heron slept near the mill, a heron of its own.\n"
    (memory / "late.md").write_text(late)
    birds = f"# Birds\n\nThe kestrel slept.\n\n## Ferry\n\n{filler * 60}\n\n## Owls\n\nThe owl woke.\n"
    (memory / "birds.md").write_text(birds)
    with unchanged(memory.parent), with_qmd(home, memory.parent, limits={"maxResults": 4}) as daemon:
        wait_for_qmd(daemon)
        yield daemon


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """Run qmd over long and hidden notes and folders of one name, with tight limits and no model; tests only ask."""
    home = tmp_path_factory.mktemp("crowd")
    workspace = write_workspace(home / "workspace")
    (workspace / ".memoryignore").write_text("memory/diary.md\n")
    (workspace / "memory" / "diary.md").write_text("The ocelot is mine.\n")
    (workspace / "memory" / "private.md").write_text("---\nmemory: false\n---\nThe ocelot is private.\n")
    for number in range(9):
        (workspace / "memory" / f"heron-{number}.md").write_text(f"# Heron {number}\n\n" + "A heron at the weir. " * 60)
    docs = []
    for number, name in enumerate(("Team Docs", "team/docs", "team-docs")):
        folder = home / f"docs {number}"
        folder.mkdir()
        (folder / "My Guide_ä.md").write_text(f"The zebra protocol, edition{number}.\n")
        docs.append({"path": str(folder), "name": name})
    limits = {"maxResults": 4, "maxSnippetChars": 200, "maxInjectedChars": 500}
    named = [{"path": ".", "name": "all"}, *docs, docs[0]]
    with unchanged(workspace), with_qmd(home, workspace, searchMode="query", limits=limits, paths=named) as daemon:
        wait_for_qmd(daemon)
        yield daemon


def test_qmd_answers_follows_edits_and_drops_removed_collections(tmp_path: Path, workspace: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "guide.md").write_text("# Guide\n\nThe zebra protocol wants two keys.\n")
    with with_qmd(tmp_path, workspace, paths=[{"path": str(docs), "name": "Team Docs"}]) as daemon:
        wait_for_qmd(daemon)
        reply = found(daemon, "which process holds the lease GW-4172")
        hit = reply["results"][0]
        assert (reply["backend"], reply["fallback"], reply["verdict"]) == ("qmd", None, "answerable")
        assert hit["citation"] == "memory/2026-10-06.md#L1-L5"
        assert "second process holds the lease" in hit["snippet"]
        assert hit["snippet"].endswith(f"Source: {hit['citation']}")

        outside = found(daemon, "zebra protocol")["results"][0]
        assert outside["path"] == "qmd/team-docs/guide.md"
        assert "two keys" in daemon.client().get(outside["path"])["text"]

        before = qmd_of(daemon)["lastUpdateAt"]
        (workspace / "memory" / "walrus.md").write_text("# Walrus\n\nThe walrus is called Ferdinand.\n")
        daemon.client().sync(wait="indexed")
        assert paths(found(daemon, "walrus"))[:1] == ["memory/walrus.md"]
        updated_after(daemon, before)
        reply = found(daemon, "Ferdinand")
        assert (reply["backend"], paths(reply)) == ("qmd", ["memory/walrus.md"])

        (workspace / "memory" / "walrus.md").write_text("# Walrus\n\nIts name is a secret.\n")
        daemon.client().sync(wait="indexed")
        assert paths(found(daemon, "Ferdinand")) == []
    with with_qmd(tmp_path, workspace) as daemon:
        wait_for_qmd(daemon)
        assert paths(found(daemon, "zebra")) == [], "its collection was removed"
        assert b"zebra" not in by_hand(daemon, "ls").stdout


def test_hidden_notes_stay_hidden(limited: RunningDaemon) -> None:
    reply = found(limited, "ocelot")
    assert reply["results"] == []
    for name in ("qmd/all/memory/diary.md", "qmd/all/memory/private.md", "qmd/all/../config.json5", "qmd/no/x.md"):
        assert limited.memoryctl("get", name).returncode == Exit.NOTHING_FOUND


def test_limits_apply_to_hits_and_snippets(limited: RunningDaemon) -> None:
    reply = found(limited, "heron")
    sizes = [len(hit["snippet"].split("\n\nSource: ")[0]) for hit in reply["results"]]
    assert reply["backend"] == "qmd"
    assert 1 <= len(sizes) <= 4
    assert max(sizes) <= 200
    assert sum(len(hit["snippet"]) for hit in reply["results"]) <= 500


def test_missing_model_means_words_without_download(limited: RunningDaemon) -> None:
    reply = found(limited, "who holds the lease")
    assert reply["backend"] == "qmd"
    assert paths(reply)[0] == "memory/2026-10-06.md"
    assert reply["health"]["arms"]["vector"]["state"] == "failed"
    assert "no embedding model" in reply["health"]["arms"]["vector"]["reason"]
    assert not reply["health"]["complete"]


def test_folders_of_the_same_name_are_distinguished(limited: RunningDaemon) -> None:
    for number, name in enumerate(("team-docs", "team-docs-2", "team-docs-3")):
        path = f"qmd/{name}/My Guide_ä.md"
        assert paths(found(limited, f"edition{number}")) == [path]
        assert f"edition{number}" in limited.client().get(path)["text"]
    # those of the workspace, all of it, and the folders, one of which is configured twice
    assert len(qmd_of(limited)["collections"]) == 1 + 1 + 3


def test_requested_number_of_results_overrides_that_of_qmd(herons: RunningDaemon) -> None:
    assert len(paths(found(herons, "heron"))) == 4
    reply = herons.client().search("heron", max_results=7)
    assert (reply["backend"], len(paths(reply))) == ("qmd", 7)


@pytest.mark.torture
def test_words_and_vectors_are_searched_and_reranked(tmp_path: Path, workspace: Path, starter_model: Path) -> None:
    ranker = tmp_path / "cache" / "qmd" / "models" / "hf_ggml-org_qwen3-reranker-0.6b-q8_0.gguf"
    ranker.parent.mkdir(parents=True)
    write_ranker(starter_model, ranker)
    with with_qmd(tmp_path, workspace, starter_model, searchMode="query") as daemon:
        wait_for_qmd(daemon)
        eventually(lambda: qmd_of(daemon)["vectors"])
        eventually(lambda: found(daemon, "who holds the lease")["backend"] == "qmd")
        reply = found(daemon, "who holds the lease")
        assert (reply["mode"], reply["health"]["complete"]) == ("hybrid", True)
        assert "memory/2026-10-06.md" in paths(reply)
        pid = qmd_of(daemon)["pid"]
        assert has_mapped(pid, ranker)
        os.kill(pid, signal.SIGKILL)
        eventually(partial(is_served_by_another, daemon, pid))
        eventually(lambda: has_mapped(qmd_of(daemon)["pid"], ranker), step=0.4)


def has_mapped(pid: int, path: Path) -> bool:
    """Tell whether a process has mapped a file, as it maps its models."""
    return any(region.path == str(path) for region in psutil.Process(pid).memory_maps())


@pytest.mark.torture
def test_killed_server_costs_no_answer_and_is_restarted(tmp_path: Path, workspace: Path) -> None:
    with with_qmd(tmp_path, workspace) as daemon:
        wait_for_qmd(daemon)
        for _ in range(3):
            found(daemon, "lease")
            pid = qmd_of(daemon)["pid"]
            os.kill(pid, signal.SIGKILL)
            reply = found(daemon, "lease")
            assert paths(reply)[0] == "memory/2026-10-06.md"
            assert reply["tookMs"] < 5000
            eventually(partial(is_served_by_another, daemon, pid))
        eventually(lambda: found(daemon, "lease")["backend"] == "qmd")


def test_killed_daemon_leaves_no_qmd(tmp_path: Path, workspace: Path) -> None:
    with with_qmd(tmp_path, workspace) as daemon:
        wait_for_qmd(daemon)
        found(daemon, "lease")
        assert processes_below(tmp_path)
        daemon.kill()
        eventually(lambda: not processes_below(tmp_path))


@pytest.mark.torture
def test_killed_daemon_restarts_also_over_a_damaged_index(tmp_path: Path, workspace: Path) -> None:
    with with_qmd(tmp_path, workspace) as daemon:
        wait_for_qmd(daemon)
        daemon.kill()
        daemon.start()
        wait_for_qmd(daemon)
        assert found(daemon, "lease")["backend"] == "qmd"
        home = Path(qmd_of(daemon)["home"])
    (home / "xdg-cache" / "qmd" / "index.sqlite").write_bytes(b"no database at all" * 1000)
    (home / "xdg-config" / "qmd" / "index.yml").write_text("{{{")
    with with_qmd(tmp_path, workspace) as daemon:
        wait_for_qmd(daemon)
        reply = found(daemon, "lease")
        assert (reply["backend"], paths(reply)[0]) == ("qmd", "memory/2026-10-06.md")


def test_qmd_env_selects_the_same_index(herons: RunningDaemon) -> None:
    printed = by_hand(herons, "search", "--json", "--", "lease").stdout
    assert json.loads(printed)[0]["file"] == "qmd://memory-root-main/memory/2026-10-06.md"
    assert set(ask(herons, ["qmd", "env"])) == {"XDG_CONFIG_HOME", "XDG_CACHE_HOME"}


def test_missing_qmd_is_reported_and_replaced_by_builtin(tmp_path: Path, workspace: Path) -> None:
    with unchanged(workspace), with_qmd(tmp_path, workspace, command="/nowhere/qmd") as daemon:
        eventually(lambda: "not installed" in str(daemon.agent()["fallback"]))
        done = daemon.memoryctl("search", "GW-4172")
        assert done.returncode == Exit.DONE
        assert "memory/2026-10-06.md" in done.stdout
        assert "answered by builtin: qmd is not installed" in done.stderr
        agent: Any = daemon.agent()
        assert (agent["backend"], agent["fallback"]["from"]) == ("builtin", "qmd")
        assert [*daemon.degraded()] == ["qmd"]
        report = daemon.memoryctl("doctor")
        assert report.returncode == Exit.ERROR
        assert "npm install" in report.stdout


@pytest.mark.parametrize(
    ("command", "way", "part", "message"),
    [
        ("version", "2.7.1", "qmd", "too old: 2.8.3 or later"),
        ("version", "exit 1", "qmd", "does not report its version"),
        ("version", "crash", "qmd", "does not report its version"),
        ("status", "fail Error: The module was compiled against another Node", "qmd database", "against another Node"),
        ("status", "crash", "qmd database", "qmd status failed: killed by SIGSEGV"),
    ],
)
def test_doctor_explains_problems_of_qmd(
    tmp_path: Path, workspace: Path, command: str, way: str, part: str, message: str
) -> None:
    standin = StandIn(tmp_path / "standin")
    standin.behave(**{command: way})
    daemon = daemon_for(tmp_path, workspace, command=str(standin.program))
    checks = {check["part"]: check for check in ask(daemon, ["doctor"], Exit.ERROR)["checks"]}
    assert checks[part]["state"] == "wrong"
    assert message in checks[part]["message"]
    assert ("npm install" if part == "qmd" else "Node") in checks[part]["hint"]
    assert not standin.alive()


def test_doctor_accepts_the_real_qmd(herons: RunningDaemon) -> None:
    checks = {check["part"]: check for check in ask(herons, ["doctor"])["checks"]}
    assert checks["qmd"]["state"] == "ok"
    assert checks["qmd database"]["state"] == "ok"


@swept("mode", ["vsearch", "query"], 1)
def test_file_that_is_no_model_is_never_touched(tmp_path: Path, workspace: Path, mode: str) -> None:
    diary = tmp_path / "diary.gguf"
    diary.write_text("Dear diary, I am no model.\n" * 100)
    before = diary.stat()
    with with_qmd(tmp_path, workspace, diary, searchMode=mode) as daemon:
        eventually(lambda: "not a GGUF model" in str(qmd_of(daemon)["vectorReason"]))
        found(daemon, "who holds the lease")
        assert str(diary) in qmd_of(daemon)["vectorReason"]
    after = diary.stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)


@pytest.mark.parametrize("question", ['"weir heron"', 'heron "old weir heron"', "heron weir -stood"])
def test_phrases_and_excluded_words_reach_beyond_the_best_hits(herons: RunningDaemon, question: str) -> None:
    reply = found(herons, question)
    assert paths(reply) == ["memory/late.md"]
    assert (reply["backend"], reply["fallback"], reply["verdict"]) == ("qmd", None, "answerable")


def test_unsupported_filter_is_answered_by_builtin(herons: RunningDaemon) -> None:
    reply = found(herons, "heron path:memory/late.md")
    assert paths(reply) == ["memory/late.md"]
    assert (reply["backend"], reply["fallback"]["from"]) == ("builtin", "qmd")
    assert "none of the best" in reply["fallback"]["reason"]
    nothing = found(herons, '"weir lease"')
    assert (nothing["backend"], paths(nothing), nothing["verdict"]) == ("qmd", [], "none")


def test_excluded_word_excludes_only_its_part_of_a_note(herons: RunningDaemon) -> None:
    reply = found(herons, "kestrel -owl")
    assert (reply["backend"], paths(reply)) == ("qmd", ["memory/birds.md"])
    assert "owl" not in reply["results"][0]["snippet"]


def test_explanation_has_only_what_qmd_reports(herons: RunningDaemon) -> None:
    reply: Any = herons.client().search("heron lease", max_results=6, explain=True)
    assert reply["backend"] == "qmd"
    explanations = [hit["explain"] for hit in reply["results"]]
    assert [explanation["mergedRank"] for explanation in explanations] == [1, 2, 3, 4, 5, 6]
    assert [explanation["baseScore"] for explanation in explanations] == [hit["score"] for hit in reply["results"]]
    assert {tuple(explanation["terms"]) for explanation in explanations} == {("heron",), ("lease",)}
    assert all("qmd" in explanation["because"] for explanation in explanations)
    assert {
        (explanation["bm25"], explanation["wordsRank"], explanation["cosine"], explanation["vectorRank"])
        for explanation in explanations
    } == {(None, None, None, None)}
    assert {(hit["textScore"], hit["vectorScore"]) for hit in reply["results"]} == {(None, None)}


@pytest.mark.parametrize(("whole", "count"), [(120, 1), (600, 3), (20, 1)])
def test_snippet_that_overflows_the_answer_is_cut(tmp_path: Path, workspace: Path, whole: int, count: int) -> None:
    standin, places = StandIn(tmp_path / "standin"), []
    for number in range(9):
        (workspace / "memory" / f"heron-{number}.md").write_text(f"A heron at weir no {number}.\n" * 60)
        places.append({**LEASE, "file": f"qmd://memory-root-main/memory/heron-{number}.md", "line": 1})
    standin.behave(results=places)
    limits = {"maxSnippetChars": 200, "maxInjectedChars": whole}
    with with_qmd(tmp_path, workspace, command=str(standin.program), limits=limits) as daemon:
        wait_for_qmd(daemon)
        reply = found(daemon, "heron")
        sizes = [len(hit["snippet"]) for hit in reply["results"]]
        assert (reply["backend"], len(sizes)) == ("qmd", count)
        assert whole * 0.7 < sum(sizes) <= whole
        last = reply["results"][-1]
        lines = last["snippet"].split("\n\nSource: ")[0].split("\n")
        assert last["snippetEndLine"] - last["snippetStartLine"] + 1 == len(lines)
        assert all(line.startswith("A heron at weir no"[: len(line)]) for line in lines)
