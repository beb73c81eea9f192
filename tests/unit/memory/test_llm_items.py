"""Items that a text model finds in a message are kept once, if complete and certain."""

from memoryd.domain.memories.capture.capture import ITEMS_MAX, CapturedItem
from memoryd.domain.skips import SkipReason
from memoryd.memory.llm import ITEM_CHARACTERS, MIN_CONFIDENCE, DistilledItem, check_items

MESSAGE = "I like spam. " * 30


def item(text: str, confidence: float = 1.0) -> DistilledItem:
    return DistilledItem(kind="preference", text=text, confidence=confidence)


def test_repeated_item_is_kept_once() -> None:
    (kept,) = check_items([item("The user likes spam."), item("The user  likes spam.")] * ITEMS_MAX, MESSAGE)
    assert isinstance(kept, CapturedItem)


def test_unsure_cut_or_invented_item_is_dropped_with_the_reason() -> None:
    long = ("The user likes spam. " * 30)[:ITEM_CHARACTERS]
    found = check_items([item("The user likes spam.", 0.0), item(long), item("The user likes dogs.")], MESSAGE)
    reasons = [SkipReason.UNSURE.format(MIN_CONFIDENCE), SkipReason.CUT_OFF, SkipReason.INVENTED]
    assert [getattr(checked, "reason", "") for checked in found] == reasons
