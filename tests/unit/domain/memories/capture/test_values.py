"""Values and their types."""

import pytest

from memoryd.domain.memories.capture.values import may_change_to, values_in

AT_ONE = [
    "下午一点开会",
    "一点半出门",
    "一点钟关门",
    "一点集合",
    "会议改到一点了",
    "会议在一点。",
    "午休是一点到两点",
    "周三一点见",
    "3月5号一点",
    "明天一点",
    "今晚一点",
    "二十一点熄灯",
    "十一点熄灯",
]
A_LITTLE = [
    "我对花粉有一点过敏",
    "走快一点",
    "早一点来",
    "晚一点再说",
    "少放一点盐",
    "汤里加一点糖",
    "他一点都不懂",
    "我今天一点也不累",
    "便宜一点",
    "有一点点甜",
    "这是一点心意",
    "从一点小事做起",
    "一时想不起来",
]


@pytest.mark.parametrize("text", AT_ONE)
def test_one_oclock_is_a_time(text: str) -> None:
    assert [value.text[-1] in "点半钟" for value in values_in(text) if value.kind == "time"][:1] == [True]


@pytest.mark.parametrize("text", A_LITTLE)
def test_a_little_is_no_time(text: str) -> None:
    assert [value for value in values_in(text) if value.kind == "time"] == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("The fitting is on Monday.", "Tuesday", True),
        ("The fitting is tomorrow.", "Tuesday", True),
        ("The fitting is in June.", "3 July", True),
        ("The fitting is at the mill.", "the barn", True),
        ("The linter is at 2.9.", "2.10", True),
        ("The fitting is at the mill.", "Tuesday", False),
        ("The fitting is on Monday.", "9:15", False),
        ("试穿在老店。", "周三", False),
        ("试穿是下周。", "周三", True),
    ],
)
def test_value_may_change_to_value_of_same_type(old: str, new: str, *, expected: bool) -> None:
    assert may_change_to(old, new) is expected
