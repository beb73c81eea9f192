"""A recalled memory quoted with a few words around it is an echo; with news it is none."""

import pytest

from memoryd.domain.memories.capture.firewall import hash_span, hash_with_key, is_echo

HASHED = hash_with_key(b"k" * 32)


@pytest.mark.parametrize(
    ("recalled", "message", "expected"),
    [
        ("Call me Leni.", "As you told me, call me Leni.", True),
        ("以后请用简体中文回答我。", "没错:以后请用简体中文回答我。", True),
        ("以后请用简体中文回答我。", "就像你说的,以后请用简体中文回答我,没错。", True),
        ("Call me Leni.", "Yes, call me Leni. Thanks for remembering.", True),
        ("Call me Leni.", "Yes, please call me Leni, thanks for remembering.", True),
        ("Call me Leni.", "That's right, call me Leni.", True),
        ("I live in Graz.", "Yes, I still live in Graz.", True),
        ("I live in Graz.", "Of course I live in Graz", True),
        ("我住在成都。", "是的，我还住在成都。", True),
        ("叫我小王。", "对，叫我小王，谢谢你记得。", True),
        ("I live in Graz.", "Of course I live in Linz", False),
        ("Call me Leni.", "Yes, please call me Lea, thanks for remembering.", False),
        ("I live in Graz.", "As you told me, I live in Vienna.", False),
        ("I like tea.", "You said that I like tea, but I don't like tea.", False),
        ("我住在成都。", "你说过,我住在重庆。", False),
    ],
)
def test_few_words_around_a_quotation_are_an_echo(recalled: str, message: str, expected: bool) -> None:
    span = hash_span(recalled, HASHED)

    assert span is not None
    assert is_echo(message, [span], HASHED) is expected
