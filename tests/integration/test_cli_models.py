"""memoryctl models with its own cache and configuration, without a daemon."""

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import gguf
import numpy as np
import pytest

from memoryd.cli.local.models import _planned_use
from memoryd.cli.main import run
from memoryd.config.loading.load import load, load_text
from memoryd.wire import Exit
from tests.daemon import STARTER
from tests.integration.pseudo_terminal import on_terminal
from tests.tiny_chat import write_chat_model

NAME = "some-model-1.0-Q8_0.gguf"
SPEC = "pypi:some-model==1.0"
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    config = tmp_path / "config.json5"
    local = {"modelPath": SPEC, "modelCacheDir": "models", "threads": 1}
    config.write_text(json.dumps({"agents": {"defaults": {"memorySearch": {"local": local}}}}))
    monkeypatch.setenv("MEMORYD_CONFIG", str(config))
    monkeypatch.delenv("MEMORYD_AGENT_ID", raising=False)
    monkeypatch.delenv("MEMORYD_OFFLINE", raising=False)
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


@pytest.fixture
def tiny_gguf(tmp_path: Path) -> Path:
    """Return a complete GGUF of an embedding model, too small to embed anything."""
    path = tmp_path / "served" / "tiny.gguf"
    path.parent.mkdir()
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name("tiny")
    writer.add_context_length(8)
    writer.add_embedding_length(4)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_tensor("token_embd.weight", np.zeros((8, 4), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def address(tiny_gguf: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tiny_gguf.parent)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/tiny.gguf"
        server.shutdown()
        thread.join()


def listed(capsys: Captured) -> list[dict[str, object]]:
    capsys.readouterr()
    assert run(["models", "list", "--json"]) == Exit.DONE
    models: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return models


def test_list_includes_missing_configured_model(cache: Path, capsys: Captured) -> None:
    assert listed(capsys) == [
        {
            "name": SPEC,
            "spec": SPEC,
            "bytes": 0,
            "path": None,
            "complete": False,
            "configured": True,
            "languages": "",
            "passagesPerSecond": None,
        }
    ]
    assert run(["models", "list"]) == Exit.DONE
    assert "not here: memoryctl models pull, configured" in capsys.readouterr().out


def test_list_marks_partial_and_configured_models(cache: Path, capsys: Captured) -> None:
    (cache / NAME).write_bytes(b"x" * 2000)
    (cache / "other.gguf.part").write_bytes(b"x" * 10)
    assert run(["models", "list"]) == Exit.DONE
    printed = capsys.readouterr().out
    assert f"{NAME}  2.0 kB, complete, configured, speed not measured\n" in printed
    assert "other.gguf  10 B, partial\n" in printed
    assert [model["configured"] for model in listed(capsys)] == [False, True]


def test_pull_downloads_once(cache: Path, address: str, tiny_gguf: Path, capsys: Captured) -> None:
    spec = f"{address}#sha256={hashlib.sha256(tiny_gguf.read_bytes()).hexdigest()}"
    assert run(["models", "pull", spec]) == Exit.DONE
    printed = capsys.readouterr()
    path = Path(printed.out.strip())
    assert path.parent == cache
    assert path.read_bytes() == tiny_gguf.read_bytes()
    assert "note: downloading" in printed.err
    assert run(["models", "pull", spec, "--json"]) == Exit.DONE
    size = tiny_gguf.stat().st_size
    assert json.loads(capsys.readouterr().out) == {"spec": spec, "path": str(path), "bytes": size, "fetched": False}


def test_pull_shows_progress_bar_on_a_terminal(cache: Path, address: str) -> None:
    code, seen = on_terminal("models", "pull", address)
    assert code == Exit.DONE
    assert "downloading" in seen
    assert str(cache)[:20] in seen


def test_pull_refuses_wrong_hash(cache: Path, address: str, capsys: Captured) -> None:
    assert run(["models", "pull", f"{address}#sha256={'0' * 64}"]) == Exit.ERROR
    assert capsys.readouterr().err.count("memoryctl: ") == 1
    assert not list(cache.glob("*.gguf"))


def test_pull_takes_chat_model_only_if_configured(cache: Path, address: str, tiny_gguf: Path, capsys: Captured) -> None:
    spec = address.replace("tiny.gguf", "chat.gguf")
    written = write_chat_model(tiny_gguf.with_name("chat.gguf"))
    assert run(["models", "pull", spec]) == Exit.ERROR
    assert "writes text" in capsys.readouterr().err
    assert not list(cache.glob("*.gguf"))
    config = cache.parent / "config.json5"
    llm = {"memory": {"llm": {"provider": "local", "model": spec}}}
    config.write_text(json.dumps(json.loads(config.read_text()) | llm))
    assert run(["models", "pull", spec]) == Exit.DONE
    path = Path(capsys.readouterr().out.strip())
    assert path.parent == cache
    assert path.read_bytes() == written.read_bytes()
    assert run(["doctor", "--json"]) in (Exit.DONE, Exit.ERROR)
    (found,) = [one for one in json.loads(capsys.readouterr().out)["checks"] if one["part"] == "text model"]
    assert found["state"] == "ok"


def test_offline_pull_is_refused(cache: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYD_OFFLINE", "1")
    assert run(["models", "pull"]) == Exit.ERROR
    assert "MEMORYD_OFFLINE is set" in capsys.readouterr().err
    assert run(["models", "pull", "--json"]) == Exit.ERROR
    assert "MEMORYD_OFFLINE is set" in json.loads(capsys.readouterr().out)["error"]["message"]


def test_remove_accepts_spec_or_name(cache: Path, capsys: Captured) -> None:
    for name in (SPEC, NAME):
        (cache / NAME).write_bytes(b"x" * 2000)
        assert run(["models", "remove", name, "--yes"]) == Exit.DONE
        assert capsys.readouterr().out == f"removed {name}, 2.0 kB freed\n"
        assert not (cache / NAME).exists()
    assert run(["models", "remove", SPEC, "--yes"]) == Exit.ERROR


def test_model_of_shared_cache_is_never_removed(
    cache: Path, tiny_gguf: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, spec = "0" * 40, "hf:owner/repository/tiny.gguf"
    config = tmp_path / "config.json5"
    config.write_text(config.read_text().replace(SPEC, spec))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "shared"))
    shared = tmp_path / "shared" / "hub" / "models--owner--repository" / "snapshots" / commit / "tiny.gguf"
    ref = shared.parents[2] / "refs" / "main"
    for folder in (shared.parent, ref.parent):
        folder.mkdir(parents=True)
    ref.write_text(commit)
    tiny_gguf.rename(shared)

    assert [(model["path"], model["complete"], model["configured"]) for model in listed(capsys)] == [
        (str(shared), True, True)
    ]
    assert run(["models", "remove", spec, "--yes"]) == Exit.ERROR
    assert "shared Hugging Face cache" in capsys.readouterr().err
    assert run(["models", "pull", spec]) == Exit.DONE
    assert capsys.readouterr().out == f"{shared}\n"
    assert shared.exists()
    assert not list(cache.iterdir())


def test_remove_asks_first(cache: Path, capsys: Captured) -> None:
    (cache / NAME).write_bytes(b"x")
    assert run(["models", "remove", SPEC]) == Exit.USAGE, "standard input is no terminal"
    code, seen = on_terminal("models", "remove", SPEC, typed="n\n")
    assert code == Exit.ERROR
    assert f"Remove {SPEC} (the configuration names it)? [y/N]:" in seen
    assert (cache / NAME).exists()
    assert on_terminal("models", "remove", SPEC, typed="y\n")[0] == Exit.DONE
    assert not (cache / NAME).exists()


def test_verify_measures_the_speed_shown_by_list(cache: Path, starter_model: Path, capsys: Captured) -> None:
    os.link(starter_model, cache / starter_model.name)
    (cache / f"{starter_model.name}.json").write_text(json.dumps({"spec": STARTER}))
    assert run(["models", "verify", STARTER, "--json"]) == Exit.DONE
    result = json.loads(capsys.readouterr().out)
    assert (result["ok"], result["threads"], result["passagesPerSecond"] > 0) == (True, 1, True)
    (model,) = [model for model in listed(capsys) if model["spec"] == STARTER]
    assert (model["languages"], model["passagesPerSecond"]) == ("English", result["passagesPerSecond"])
    assert run(["models", "list"]) == Exit.DONE
    assert f", complete, English, {result['passagesPerSecond']:.0f} passages a second here" in capsys.readouterr().out


def test_verify_reports_missing_or_broken_model(cache: Path, tiny_gguf: Path, capsys: Captured) -> None:
    assert run(["models", "verify"]) == Exit.ERROR
    assert f"fetch it: memoryctl models pull {SPEC}" in capsys.readouterr().err
    (cache / NAME).write_bytes(b"<html>log in</html>")
    assert run(["models", "verify"]) == Exit.ERROR
    assert "Traceback" not in capsys.readouterr().err
    assert run(["models", "verify", str(tiny_gguf)]) == Exit.ERROR, "llama.cpp cannot load it"
    assert "memoryctl: " in capsys.readouterr().err


def test_wrong_configuration_and_unknown_agent_are_errors(
    cache: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["models", "list", "--agent", "nobody"]) == Exit.ERROR
    assert capsys.readouterr().err == "memoryctl: no agent 'nobody' is configured\nthere is: main\n"
    (tmp_path / "bad.json5").write_text("{agents: {defaults: {memorySearch: {chunkin: 1}}}}")
    monkeypatch.setenv("MEMORYD_CONFIG", str(tmp_path / "bad.json5"))
    assert run(["models", "list"]) == Exit.CONFIG
    assert "chunkin" in capsys.readouterr().err


def test_use_refuses_when_provider_is_not_local(cache: Path, capsys: Captured) -> None:
    config = cache.parent / "config.json5"
    for provider in ("none", "openai"):
        search = {"provider": provider, "local": {"modelPath": SPEC, "modelCacheDir": "models"}}
        config.write_text(written := json.dumps({"agents": {"defaults": {"memorySearch": search}}}))
        assert run(["models", "use", "pypi:other-model==1.0", "--force"]) == Exit.ERROR
        assert f"its provider is {provider}" in capsys.readouterr().err
        assert config.read_text() == written


def test_use_writes_into_newer_layout(cache: Path) -> None:
    config = cache.parent / "config.json5"
    main = {"memory": {"search": {"local": {"threads": 2}}}}
    config.write_text(json.dumps({"memory": {"search": {"provider": "local"}}, "agents": {"entries": {"main": main}}}))
    for own, written in ((False, ("memory",)), (True, ("agents", "entries", "main", "memory"))):
        agent = load().config.resolved_agents()[0]
        plan = _planned_use("pypi:other-model==1.0", agent, is_own=own)
        assert plan.key == ".".join((*written, "search.local.modelPath"))
        found = load_text(plan.text, config).config.resolved_agents()[0]
        assert found.memory_search.local.model_path == "pypi:other-model==1.0"
