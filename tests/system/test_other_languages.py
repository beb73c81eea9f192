"""Notes in two languages with a multilingual model: the answer is found from either language."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon import RunningDaemon, write_config
from tests.waiting import eventually

NOTES = {
    "dentist.md": "Tooth check-up moved to Thursday at nine, with Doctor Hale in Mill Street.",
    "boiler.md": "The boiler is serviced every October; Kjell has the keys to the cellar.",
    "rabbit.md": "The rabbit is too heavy: less dry food, more hay, and weigh her on Sundays.",
    "lease.md": "Our contract for the flat ends in June and has to be cancelled three months before.",
    "choir.md": "Singers rehearse in the parish hall while the roof of the school is mended.",
    "server.md": "Backups of the database run at two in the night and are kept for thirty days.",
    "cake.md": "Plum cake for Ida's birthday: butter, flour, cinnamon, forty minutes in the oven.",
    "bike.md": "Ordered new brake pads for the bicycle from the shop by the bridge.",
    "visa.md": "签证材料要在二十号以前交到领事馆，照片要白底的。",
    "cat.md": "早上给咪咪喂半罐金枪鱼，晚上只喂干粮。",
    "medicine.md": "岳父的降压药放在厨房左边的抽屉里，每天饭后吃一片。",
    "meeting.md": "组会改到周三下午三点，地点在四零七会议室。",
    "flight.md": "去厦门的航班早上六点四十起飞，民宿的房间保留到半夜。",
    "school.md": "小杰九月开始学游泳，要带泳镜和写了名字的毛巾。",
    "tyres.md": "换冬季轮胎花了八百四，夏天的那套放在地下室。",
    "garden.md": "番茄和罗勒今天搬到了阳台，比去年晚一个星期。",
}


FIRST = "我什么时候去看牙医？", "dentist.md"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, multilingual_model: Path) -> Iterator[RunningDaemon]:
    folder = tmp_path_factory.mktemp("mixed")
    workspace = folder / "workspace"
    (workspace / "memory").mkdir(parents=True)
    for name, text in NOTES.items():
        (workspace / "memory" / name).write_text(text + "\n", encoding="utf-8")
    with RunningDaemon(folder, write_config(folder, workspace, multilingual_model), workspace) as running:
        client = running.client()
        client.sync(wait="embedded", timeout_ms=60_000)
        # calibration for conversations may still run
        eventually(lambda: client.search(FIRST[0])["results"][0]["path"] == f"memory/{FIRST[1]}")
        yield running


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("What do I feed the cat in the morning?", "cat.md"),
        ("Where are the blood pressure tablets of my father-in-law?", "medicine.md"),
        ("When does the plane to Xiamen leave?", "flight.md"),
        FIRST,
        ("数据库的备份保留多久？", "server.md"),
        ("租房合同什么时候到期？", "lease.md"),
        ("when is the boiler serviced", "boiler.md"),
        ("组会改到什么时候？", "meeting.md"),
    ],
)
def test_answering_note_ranks_first(daemon: RunningDaemon, question: str, note: str) -> None:
    paths = [hit["path"] for hit in daemon.client().search(question, max_results=3)["results"]]
    assert paths[0] == f"memory/{note}", paths
