"""Past events and present facts, by tense and aspect in English and Chinese."""

import pytest

from memoryd.domain.memories.facts.values import is_past_event


@pytest.mark.parametrize(
    "text",
    [
        "On 3 May Peter slept badly.",
        "On 4 May the build failed.",
        "The server restarted at 9:00",
        "Slept badly on 3 May",
        "Peter had a headache on 3 May",
        "Camera 1 was offline",
        "Has a child born in 2015",
        "The nightly backup took 40 minutes",
        "Forty chairs were ordered for the hall.",
        "She has paid 30 euros to the plumber",
        "On 3 May Anna read the letter",
        "The office moved to 12 Elm Street",
        "He cut the hedge on Friday",
        "The parcel came two days ago",
        "小宝5月3日发烧了",
        "5月3日小宝发烧了。",
        "付了三十元给水管工",
        "去过上海三次",
        "上周例会在三楼",
    ],
)
def test_past_event_is_recognised(text: str) -> None:
    assert is_past_event(text)


@pytest.mark.parametrize(
    "text",
    [
        "The rent is 940 a month.",
        "Heron goes public on January 14 as planned",
        "The left monitor is a Dell",
        "The limited edition costs 30 euros",
        "The meeting is scheduled for Friday",
        "The code list is kept by Dana",
        "The office has moved to Elm Street 4",
        "The deadline has been moved to Friday",
        "Mochi may go into the garden",
        "We feed the cat 30 g",
        "The need is 5 mg",
        "例会改到周三下午两点",
        "例会改到周五了",
        "密码改成了8832",
        "孙子不再学画画了",
        "预算不超过五万",
        "女儿对花生过敏",
        "为了安全，门锁密码是4711",
        "鲜奶又改回蒙牛的了",
    ],
)
def test_present_fact_is_no_past_event(text: str) -> None:
    assert not is_past_event(text)


@pytest.mark.parametrize("piece", ["has been ", "ed ", "the left ", "了", "过", "a", "was"])
def test_hostile_text_is_parsed_in_linear_time(piece: str) -> None:
    assert is_past_event((piece * 2_000)[:2_000]) in (True, False)
