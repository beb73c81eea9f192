"""The real daemon learns how near strangers come under its model: once, beside what is owed, and within the rules."""

from collections.abc import Mapping
from pathlib import Path

from memoryd.embed.calibration import ASKED_SPACED, ASKED_UNSPACED, SPACED, UNSPACED
from tests.daemon import RunningDaemon, write_config
from tests.embedding_endpoint import Endpoint
from tests.waiting import eventually

TEXTS = {*SPACED, *UNSPACED, *ASKED_SPACED, *ASKED_UNSPACED}


def running(home: Path, workspace: Path, model: Path | None, search: Mapping[str, object]) -> RunningDaemon:
    return RunningDaemon(home, write_config(home, workspace, model, search=search), workspace)


def kept(daemon: RunningDaemon) -> list[Path]:
    return list((daemon.home / "cache" / "memoryd" / "strangers").glob("*"))


def remote(endpoint: Endpoint, **more: object) -> dict[str, object]:
    access = {"baseUrl": endpoint.url, "apiKey": "sk-secret-of-the-test-4711", **more}
    return {"provider": "openai", "model": "test-model", "remote": access}


def answers_in_full(daemon: RunningDaemon, question: str = "GW-4172 lease") -> bool:
    return daemon.client().search(question)["mode"] == "hybrid"


def sent(endpoint: Endpoint) -> list[str]:
    return [text for text in endpoint.texts() if text in TEXTS]


def test_first_answer_with_vectors_knows_the_strangers(tmp_path: Path, workspace: Path, starter_model: Path) -> None:
    # nothing that another test has learned
    (tmp_path / "cache" / "memoryd" / "strangers").mkdir(parents=True)
    with running(tmp_path, workspace, starter_model, {}) as daemon:
        client = daemon.client()
        assert client.sync(wait="embedded", timeout_ms=60_000)["complete"]
        eventually(lambda: kept(daemon))
        (path,) = kept(daemon)
        told = client.search("What did we bake?")
        stranger = client.search("Which airline flies to Oslo?")
        assert told["results"][0]["verdict"] != "none"
        assert stranger["verdict"] == "none"
        assert stranger["results"], "noise is shown, too"
        asked = client.turn("/recall Which airline flies to Oslo?", session_key="agent:main:main")["command"]
        assert asked is not None
        assert all(line.endswith("(no answer)") for line in asked["text"].splitlines())
        path.write_bytes(path.read_bytes()[:-1])
    with running(tmp_path, workspace, starter_model, {}) as daemon:
        # all notes have their vectors: the first question has it measured, and does not wait
        eventually(lambda: answers_in_full(daemon))
        eventually(lambda: len(kept(daemon)[0].read_bytes()) == 32 + 2 * 384 * len(TEXTS))


def test_provider_is_sent_our_sentences_once(tmp_path: Path, workspace: Path, endpoint: Endpoint) -> None:
    with running(tmp_path, workspace, None, remote(endpoint)) as daemon:
        assert daemon.client().sync(wait="embedded", timeout_ms=60_000)["complete"]
        assert not sent(endpoint), "notes are not kept waiting"
        assert answers_in_full(daemon)
        eventually(lambda: kept(daemon))
        assert sorted(sent(endpoint)) == sorted(TEXTS)
    with running(tmp_path, workspace, None, remote(endpoint, apiKey="another-key")) as daemon:
        eventually(lambda: answers_in_full(daemon))
        assert answers_in_full(daemon, "Who baked a loaf?")
    assert len(sent(endpoint)) == len(TEXTS)


def test_budget_that_is_spent_holds_them_back(tmp_path: Path, workspace: Path, endpoint: Endpoint) -> None:
    with running(tmp_path, workspace, None, remote(endpoint)) as daemon:
        assert daemon.client().sync(wait="embedded", timeout_ms=60_000)["complete"]
    with running(tmp_path, workspace, None, remote(endpoint, tokensPerDay=1)) as daemon:
        eventually(lambda: answers_in_full(daemon))
        eventually(lambda: "how near strangers come is not known yet" in daemon.log.read_text())
        assert not kept(daemon)
    assert not sent(endpoint)


def test_words_alone_need_none(tmp_path: Path, workspace: Path) -> None:
    with running(tmp_path, workspace, None, {"provider": "none"}) as daemon:
        assert daemon.client().sync(wait="indexed")["complete"]
        assert daemon.client().search("GW-4172 lease")["results"]
        assert not kept(daemon)
