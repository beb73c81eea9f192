"""Text of a model is stored only if the message supports it."""

import pytest

from memoryd.domain.memories.capture.firewall import why_ungrounded
from memoryd.domain.skips import SkipReason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("The user likes coriander.", "I do not like coriander."),
        ("The user does not like coriander.", "I like coriander."),
        ("用户喜欢香菜。", "我不喜欢香菜。"),
        ("The user is allergic to penicillin.", "I am not allergic to penicillin, my son is."),
    ],
)
def test_contradicting_text_is_refused(text: str, message: str) -> None:
    assert why_ungrounded(text, message) == SkipReason.INVERTED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("The user doesn't like coriander.", "I do not like coriander."),
        ("The user prefers fish.", "I don't eat meat, I prefer fish."),
        ("The user does not eat meat.", "I don't eat meat, I prefer fish."),
        ("用户不喜欢香菜。", "我不喜欢香菜，但喜欢葱。"),
        ("用户喜欢葱。", "我不喜欢香菜，但喜欢葱。"),
        ("The user moved to Linz.", "I moved from Graz to Linz."),
        ("The user prefers tea over coffee.", "I prefer tea over coffee."),
        ("The user used to live in Graz.", "I used to live in Graz."),
        ("用户现在住在广州。", "我以前住在上海，现在住在广州。"),
        ("The user's son is allergic to penicillin.", "My son is allergic to penicillin."),
        ("The user lives in Linz.", "My wife and I live in Linz."),
        ("The user is used to early mornings.", "I am used to early mornings."),
        ("用户的儿子对青霉素过敏。", "我儿子对青霉素过敏。"),
    ],
)
def test_supported_text_is_accepted(text: str, message: str) -> None:
    assert why_ungrounded(text, message) == ""


@pytest.mark.parametrize(
    ("text", "message", "reason"),
    [
        ("用户喜欢狗。", "I like dogs.", SkipReason.OTHER_LANGUAGE),
        ("I like dogs.", "I like dogs.", SkipReason.FIRST_PERSON),
        ("The user likes cats.", "I like dogs.", SkipReason.INVENTED),
        ("The user has 3 dogs.", "I have 2 dogs.", SkipReason.INVENTED),
    ],
)
def test_unsupported_text_is_refused(text: str, message: str, reason: str) -> None:
    assert why_ungrounded(text, message) == reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("The user moved to Graz.", "I moved from Graz to Linz."),
        ("The user prefers coffee over tea.", "I prefer tea over coffee."),
        ("The user lives in Graz.", "I used to live in Graz."),
        ("The user lives in Graz.", "I hardly live in Graz any more."),
        ("用户住在上海。", "我以前住在上海，现在住在广州。"),
        ("The user is allergic to penicillin.", "My son is allergic to penicillin."),
        ("用户对青霉素过敏。", "我儿子对青霉素过敏。"),
    ],
)
def test_text_with_other_roles_times_or_people_is_refused(text: str, message: str) -> None:
    assert why_ungrounded(text, message) in (SkipReason.INVENTED, SkipReason.INVERTED)
