"""Pictures and sounds through the real daemon and an endpoint with the API of Gemini."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import memoryd
from memoryd.client import Client
from memoryd.replies.search import SearchReply
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config
from tests.embedding_endpoint import REFUSAL, Endpoint
from tests.hasty import HASTY
from tests.media_files import jpeg, mp3, png, wav
from tests.system.agents import daemon_of_agents
from tests.system.over_socket import send
from tests.waiting import SECONDS, eventually

SOURCE = Path(memoryd.__file__).parents[1]
KEY = "key-of-the-test-4711"
BICYCLE = "a red bicycle leans against the lighthouse"


@pytest.fixture
def assets(workspace: Path) -> Path:
    """Return a folder with two pictures and two sounds beside the notes; their names reveal no content."""
    folder = workspace / "assets"
    folder.mkdir()
    (folder / "IMG_0042.png").write_bytes(png(BICYCLE))
    (folder / "scan-7.jpg").write_bytes(jpeg("a whiteboard with boxes and arrows"))
    (folder / "memo.mp3").write_bytes(mp3("a blackbird sings at dusk"))
    (folder / "rec.wav").write_bytes(wav("grandmother reads the recipe of her plum cake"))
    return folder


def search_of(endpoint: Endpoint, **more: object) -> dict[str, object]:
    return {
        "provider": "gemini",
        "model": "gemini-embedding-2-preview",
        "remote": {"baseUrl": f"{endpoint.url}beta", "apiKey": KEY},
        "extraPaths": ["assets"],
        "multimodal": {"enabled": True, "modalities": ["all"], "maxFileBytes": 50_000},
        **more,
    }


def configured(home: Path, workspace: Path, search: dict[str, object]) -> RunningDaemon:
    paths = [str(workspace / "assets")] if search.get("extraPaths") == ["assets"] else search.get("extraPaths", [])
    config = write_config(home, workspace, None, search=search | {"extraPaths": paths})
    return RunningDaemon(home, config, workspace, program=HASTY)


def ask(daemon: RunningDaemon, question: str) -> SearchReply:
    with Client(daemon.socket) as client:
        return client.search(question)


def is_embedded(daemon: RunningDaemon) -> bool:
    """Tell whether every passage has a vector or was refused."""
    agent = daemon.agent()
    is_done = agent["embedded"] > 0 and not agent["pendingEmbeddings"] and not agent["pendingFiles"]
    refused = sum("found by its name only" in row["reason"] for row in agent["skipped"])
    return is_done and agent["embedded"] + refused == agent["passages"]


def sync(daemon: RunningDaemon) -> None:
    daemon.client().sync(wait="indexed")
    eventually(lambda: is_embedded(daemon))


def seen(endpoint: Endpoint) -> list[str]:
    return [file["seen"] for file in endpoint.files()]


def test_media_are_found_by_content_and_never_returned(
    tmp_path: Path, workspace: Path, assets: Path, endpoint: Endpoint
) -> None:
    with configured(tmp_path, workspace, search_of(endpoint)) as daemon:
        sync(daemon)
        for question, name, line in (
            ("red bicycle lighthouse", "IMG_0042.png", "Image file: IMG_0042.png"),
            ("whiteboard boxes arrows", "scan-7.jpg", "Image file: scan-7.jpg"),
            ("blackbird sings at dusk", "memo.mp3", "Audio file: memo.mp3"),
            ("recipe plum cake grandmother", "rec.wav", "Audio file: rec.wav"),
        ):
            reply = ask(daemon, question)
            hit: Any = reply["results"][0]
            assert hit["path"] == hit["citation"] == f"assets/{name}"
            assert hit["snippet"] == f"{line}\n\nSource: assets/{name}"
            assert hit["focus"] is None, "a picture has no lines"
            assert hit["vectorScore"] > 0.5
            assert hit["textScore"] is None, "the name has no word of the question"
            assert reply["mode"] == "hybrid"
        assert ask(daemon, "IMG_0042")["results"][0]["path"] == "assets/IMG_0042.png"
        refusal = send(daemon.socket, "GET", "/v1/files/assets/IMG_0042.png")
        assert (refusal.status, refusal.error) == (400, "invalid_request")
        assert "is an image file" in refusal.message
        assert send(daemon.socket, "GET", "/v1/files/assets/none.png").error == "not_found"
        shown = daemon.memoryctl("search", "red bicycle lighthouse", "-k", "1").stdout
        assert "assets/IMG_0042.png  " in shown
        got = daemon.memoryctl("get", "assets/IMG_0042.png")
        assert got.returncode == Exit.ERROR
        assert "returns no bytes" in got.stderr
    assert sorted({file["mime"] for file in endpoint.files()}) == ["audio/mpeg", "audio/wav", "image/jpeg", "image/png"]
    assert Counter(seen(endpoint)).most_common(1)[0][1] == 1, "each file was sent once"
    assert "assets/" not in json.dumps(endpoint.requests()), "only file names are sent, no folders"


def test_only_new_content_is_sent(tmp_path: Path, workspace: Path, assets: Path, endpoint: Endpoint) -> None:
    with configured(tmp_path, workspace, search_of(endpoint)) as daemon:
        sync(daemon)
        assert len(seen(endpoint)) == 4
        (assets / "old").mkdir()
        (assets / "IMG_0042.png").rename(assets / "old" / "holiday.png")
        sync(daemon)
        eventually(lambda: ask(daemon, "holiday")["results"][0]["snippet"].startswith("Image file: holiday.png"))
        assert ask(daemon, "red bicycle lighthouse")["results"][0]["path"] == "assets/old/holiday.png"
        assert len(seen(endpoint)) == 4, "a rename sends nothing"
        (assets / "scan-7.jpg").write_bytes(jpeg("an owl on a fence"))
        sync(daemon)
        assert seen(endpoint)[4:] == ["an owl on a fence"]
        assert ask(daemon, "owl on a fence")["results"][0]["path"] == "assets/scan-7.jpg"
        (assets / "memo.mp3").unlink()
        (workspace / ".memoryignore").write_text("*.wav\n")
        daemon.client().sync(wait="indexed")
        eventually(lambda: daemon.agent()["files"] == 5)
        paths = {hit["path"] for hit in ask(daemon, "blackbird sings at dusk, recipe plum cake")["results"]}
        assert not paths & {"assets/memo.mp3", "assets/rec.wav"}
    with configured(tmp_path, workspace, search_of(endpoint)) as daemon:
        sync(daemon)
        assert len(seen(endpoint)) == 5, "a restart sends nothing"


def test_unsuitable_files_are_skipped_with_a_reason(
    tmp_path: Path, workspace: Path, assets: Path, endpoint: Endpoint
) -> None:
    (assets / "key.png").write_text("-----BEGIN OPENSSH PRIVATE KEY-----")
    (assets / "song.png").write_bytes(mp3("a song"))
    (assets / "large.png").write_bytes(png("a wide view", filling=60_000))
    (assets / "bad.png").write_bytes(png("this is to be refused"))
    (workspace / "memory" / "inside.png").write_bytes(png("a private view"))
    with configured(tmp_path, workspace, search_of(endpoint)) as daemon:
        sync(daemon)
        skipped = {row["path"]: row["reason"] for row in daemon.agent()["skipped"]}
        assert skipped.keys() == {f"assets/{name}.png" for name in ("key", "song", "large", "bad")}
        assert "its bytes are not those of an image file" in skipped["assets/key.png"]
        assert "its bytes are not those of an image file" in skipped["assets/song.png"]
        assert "larger than memorySearch.multimodal.maxFileBytes (50000 bytes)" in skipped["assets/large.png"]
        assert skipped["assets/bad.png"].startswith("found by its name only: ")
        assert REFUSAL in skipped["assets/bad.png"]
        assert ask(daemon, "red bicycle lighthouse")["results"][0]["path"] == "assets/IMG_0042.png"
        assert ask(daemon, "bad.png")["results"][0]["path"] == "assets/bad.png"
        assert "found by its name only" in daemon.memoryctl("status", "--verbose").stdout
    assert not {"a song", "a wide view", "a private view"} & set(seen(endpoint))
    assert "OPENSSH" not in json.dumps(endpoint.requests())


def dry_run(daemon: RunningDaemon) -> dict[str, Any]:
    result = daemon.memoryctl("index", "--dry-run", "--json")
    assert result.returncode == Exit.DONE, result.stderr
    agents: list[dict[str, Any]] = json.loads(result.stdout)["agents"]
    return agents[0]


def test_dry_run_counts_media_and_pausing_sends_none(
    tmp_path: Path, workspace: Path, assets: Path, endpoint: Endpoint
) -> None:
    (assets / "copy").mkdir()
    (assets / "copy" / "IMG_0042.png").write_bytes(png(BICYCLE))
    search = search_of(endpoint, sync={"paused": True})
    with configured(tmp_path, workspace, search) as daemon:
        daemon.client().sync(wait="indexed")
        running = dry_run(daemon)
        sizes = sum(path.stat().st_size for path in assets.iterdir() if path.is_file())
        assert (running["files"], running["media"], running["mediaBytes"]) == (8, 4, sizes)
        assert running["tokens"] > 2 * 258
        shown = daemon.memoryctl("index", "--dry-run").stdout
        assert f"with 4 pictures and sounds of {sizes / 1000:.1f} kB to 127.0.0.1:{endpoint.port}" in shown
        assert not seen(endpoint)
        assert daemon.memoryctl("index").returncode == Exit.DONE
        assert len(seen(endpoint)) == 4
        assert dry_run(daemon)["media"] == 0
    (tmp_path / "state").rename(tmp_path / "state-of-before")
    assert dry_run(configured(tmp_path, workspace, search)) == running


def test_daily_budget_delays_pictures(tmp_path: Path, workspace: Path, assets: Path, endpoint: Endpoint) -> None:
    search = search_of(endpoint)
    access: Any = search["remote"]
    with configured(tmp_path, workspace, search | {"remote": access | {"tokensPerDay": 400}}) as daemon:
        daemon.client().sync(wait="indexed")
        eventually(lambda: "tokensPerDay" in str(daemon.degraded()))
        assert len(seen(endpoint)) < 4
        assert ask(daemon, "IMG_0042")["results"]


def test_outage_of_the_endpoint_sends_nothing_twice(
    tmp_path: Path, workspace: Path, assets: Path, endpoint: Endpoint
) -> None:
    for number in range(40):
        (assets / f"many-{number}.png").write_bytes(png(f"view number {number}"))
    endpoint.kill()
    endpoint.delay = 0.1
    endpoint.start()
    with configured(tmp_path, workspace, search_of(endpoint)) as daemon:
        eventually(lambda: len(seen(endpoint)) > 5, step=0.02)
        endpoint.kill()
        assert len(seen(endpoint)) < 44
        assert ask(daemon, "IMG_0042")["results"][0]["path"] == "assets/IMG_0042.png"
        endpoint.start()
        eventually(lambda: is_embedded(daemon))
    counts = Counter(seen(endpoint))
    assert len(counts) == 44
    assert counts.most_common(1)[0][1] == 1


def test_killed_daemon_loses_nothing_and_resends_little(
    tmp_path: Path, workspace: Path, assets: Path, endpoint: Endpoint
) -> None:
    for number in range(60):
        (assets / f"many-{number}.png").write_bytes(png(f"view number {number}"))
    endpoint.kill()
    endpoint.delay = 0.1
    endpoint.start()
    daemon = configured(tmp_path, workspace, search_of(endpoint))
    with daemon:
        eventually(lambda: len(seen(endpoint)) > 20, step=0.02)
        daemon.kill()
        assert len(set(seen(endpoint))) < 64
        daemon.start()
        eventually(lambda: is_embedded(daemon))
        assert daemon.agent()["files"] == 67
    counts = Counter(seen(endpoint))
    assert len(counts) == 64
    assert counts.total() - 64 <= 16, "only files in transit"


def test_pictures_are_sent_directly_when_notes_use_batch_jobs(
    tmp_path: Path, workspace: Path, assets: Path, endpoint: Endpoint
) -> None:
    search = search_of(endpoint)
    access: Any = search["remote"]
    jobs = {"remote": access | {"batch": {"enabled": True, "pollIntervalMs": 100}}}
    with configured(tmp_path, workspace, search | jobs) as daemon:
        sync(daemon)
        assert ask(daemon, "red bicycle lighthouse")["results"][0]["path"] == "assets/IMG_0042.png"
    assert len(seen(endpoint)) == 4


def test_two_workspaces_share_a_folder_of_pictures(
    tmp_path: Path, workspace: Path, assets: Path, endpoint: Endpoint
) -> None:
    other = tmp_path / "other"
    (other / "memory").mkdir(parents=True)
    (other / "MEMORY.md").write_text("# Memory\n\nElsewhere.\n")
    search = search_of(endpoint) | {"extraPaths": [str(assets)]}
    listed = [{"id": "main"}, {"id": "work", "workspace": str(other)}]
    with (
        daemon_of_agents(tmp_path, listed, workspace, search=search) as daemon,
        Client(daemon.socket) as client,
    ):
        client.sync(wait="embedded", agent="main")
        client.sync(wait="embedded", agent="work")
        reply = client.search("red bicycle lighthouse", agent="work")
        assert reply["results"][0]["path"] == "../workspace/assets/IMG_0042.png"
        reply = client.search("red bicycle lighthouse", agent="main")
        assert reply["results"][0]["path"] == "assets/IMG_0042.png"


def test_invalid_combination_of_settings_is_refused_at_once(
    tmp_path: Path, workspace: Path, assets: Path, endpoint: Endpoint
) -> None:
    search = search_of(endpoint, provider="openai", model="text-embedding-3-small", fallback="local")
    daemon = configured(tmp_path, workspace, search)
    process = daemon.spawn()
    assert process.wait(SECONDS) == Exit.CONFIG
    log = daemon.log.read_text()
    for problem in (
        'memorySearch.fallback: must be "none" while multimodal.enabled is true',
        'memorySearch.provider: must be "gemini" while multimodal.enabled is true, not "openai"',
        'memorySearch.model: must be "gemini-embedding-2-preview" while multimodal.enabled is true',
    ):
        assert problem in log


def test_other_provider_chosen_by_auto_leaves_pictures_out(
    tmp_path: Path, workspace: Path, assets: Path, endpoint: Endpoint
) -> None:
    local = {"modelPath": "/nowhere/model.gguf", "download": False}
    with configured(tmp_path, workspace, search_of(endpoint, provider="auto", remote={}, local=local)) as daemon:
        daemon.client().sync(wait="indexed")
        agent = daemon.agent()
        assert agent["files"] == 3
        (reason,) = [part["reason"] for part in agent["degraded"] if part["part"] == "multimodal"]
        assert "pictures and sounds are left out" in reason
        assert "gemini-embedding-2-preview" in reason
    assert not endpoint.requests()
