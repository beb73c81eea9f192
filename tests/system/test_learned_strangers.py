"""The real daemon measures the strangers of its model once, in the background and within the budget."""

from collections.abc import Mapping
from pathlib import Path

from memoryd.embed.calibration import ASKED_SPACED, ASKED_UNSPACED, SPACED, UNSPACED
from tests.daemon import RunningDaemon, write_config
from tests.embedding_endpoint import Endpoint
from tests.waiting import eventually

TEXTS = {*SPACED, *UNSPACED, *ASKED_SPACED, *ASKED_UNSPACED}


def running(home: Path, workspace: Path, model: Path | None, search: Mapping[str, object]) -> RunningDaemon:
    return RunningDaemon(home, write_config(home, workspace, model, search=search), workspace)


def stranger_files(daemon: RunningDaemon) -> list[Path]:
    return list((daemon.home / "cache" / "memoryd" / "strangers").glob("*"))


def remote(endpoint: Endpoint, **more: object) -> dict[str, object]:
    access = {"baseUrl": endpoint.url, "apiKey": "sk-secret-of-the-test-4711", **more}
    return {"provider": "openai", "model": "test-model", "remote": access}


def answers_in_full(daemon: RunningDaemon, question: str = "GW-4172 lease") -> bool:
    return daemon.client().search(question)["mode"] == "hybrid"


def sent_strangers(endpoint: Endpoint) -> list[str]:
    return [text for text in endpoint.texts() if text in TEXTS]


def test_first_answer_with_vectors_uses_the_strangers(tmp_path: Path, workspace: Path, starter_model: Path) -> None:
    # so that no measurement of another test is copied
    (tmp_path / "cache" / "memoryd" / "strangers").mkdir(parents=True)
    with running(tmp_path, workspace, starter_model, {}) as daemon:
        client = daemon.client()
        assert client.sync(wait="embedded", timeout_ms=60_000)["complete"]
        eventually(lambda: stranger_files(daemon))
        (path,) = stranger_files(daemon)
        answer = client.search("What did we bake?")
        stranger = client.search("Which airline flies to Oslo?")
        assert answer["results"][0]["verdict"] != "none"
        assert stranger["verdict"] == "none"
        assert stranger["results"], "noise is shown, too"
        command = client.turn("/recall Which airline flies to Oslo?", session_key="agent:main:main")["command"]
        assert command is not None
        assert all(line.endswith("(no answer)") for line in command["text"].splitlines())
        path.write_bytes(path.read_bytes()[:-1])
    with running(tmp_path, workspace, starter_model, {}) as daemon:
        # all notes have vectors: the first question starts the measurement and does not wait
        eventually(lambda: answers_in_full(daemon))
        eventually(lambda: len(stranger_files(daemon)[0].read_bytes()) == 32 + 2 * 384 * len(TEXTS))


def test_provider_gets_the_strangers_once(tmp_path: Path, workspace: Path, endpoint: Endpoint) -> None:
    with running(tmp_path, workspace, None, remote(endpoint)) as daemon:
        assert daemon.client().sync(wait="embedded", timeout_ms=60_000)["complete"]
        assert not sent_strangers(endpoint), "notes come first"
        assert answers_in_full(daemon)
        eventually(lambda: stranger_files(daemon))
        assert sorted(sent_strangers(endpoint)) == sorted(TEXTS)
    with running(tmp_path, workspace, None, remote(endpoint, apiKey="another-key")) as daemon:
        eventually(lambda: answers_in_full(daemon))
        assert answers_in_full(daemon, "Who baked a loaf?")
    assert len(sent_strangers(endpoint)) == len(TEXTS)


def test_spent_budget_delays_the_strangers(tmp_path: Path, workspace: Path, endpoint: Endpoint) -> None:
    with running(tmp_path, workspace, None, remote(endpoint)) as daemon:
        assert daemon.client().sync(wait="embedded", timeout_ms=60_000)["complete"]
    with running(tmp_path, workspace, None, remote(endpoint, tokensPerDay=1)) as daemon:
        eventually(lambda: answers_in_full(daemon))
        eventually(lambda: "how near strangers come is not known yet" in daemon.log.read_text())
        assert not stranger_files(daemon)
    assert not sent_strangers(endpoint)


def test_words_only_needs_no_strangers(tmp_path: Path, workspace: Path) -> None:
    with running(tmp_path, workspace, None, {"provider": "none"}) as daemon:
        assert daemon.client().sync(wait="indexed")["complete"]
        assert daemon.client().search("GW-4172 lease")["results"]
        assert not stranger_files(daemon)
