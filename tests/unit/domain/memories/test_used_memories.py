"""Memories that an answer uses: cited, or with distinctive words that are not in the question."""

from memoryd.domain.memories.uses import used_memories
from tests.unit.domain.memories.books import book_from

LOG = "memory/2026-03-10.md"
FILLER = [f"W @Anna: On Tuesday number {number} Anna went to the market for bread and milk." for number in range(200)]


def is_used(line: str, question: str, answer: str, *, others: tuple[str, ...] = (), with_filler: bool = True) -> bool:
    book = book_from({LOG: [line, *others, *(FILLER if with_filler else [])]})
    memory = next(one for one in book.memories.values() if one.sources[0].start_line == 3)
    shown = [(memory, f"{LOG}#L3")]
    found = used_memories(shown, question=question, answer=answer, memories=book.memories.values())
    assert found in ([], [memory.id])
    return bool(found)


KEY = "W: The spare key is under the third flower pot."
TEA = "W @朵朵: 朵朵不吃香菜和苦瓜。"


def test_answer_with_distinctive_words_uses_memory() -> None:
    assert is_used(KEY, "where is the spare key?", "It is under the third flower pot.")
    assert is_used(KEY, "I am locked out", "Look under the third flower pot: there is a spare key.")
    assert is_used("W: Device A is a fnOS NAS.", "what is device A?", "That one runs fnOS.")
    assert is_used(TEA, "今晚做什么菜给朵朵", "她不吃香菜和苦瓜，做番茄炒蛋吧。")
    assert is_used("W @Anna: Anna's door code is 4711.", "what is the code of Anna's door?", "4711")


def test_words_of_question_and_small_talk_use_nothing() -> None:
    assert not is_used(KEY, "where is the spare key?", "I do not know where the spare key is.")
    assert not is_used(KEY, "lgtm", "Okay.")
    assert not is_used(KEY, "谢谢", "好的。")
    assert not is_used(TEA, "朵朵几点放学", "朵朵四点放学。")
    assert not is_used(KEY, "what's 17 * 23?", "391")
    assert not is_used(KEY, "which third-party library is it?", "The third one.")


def test_words_in_most_memories_are_not_distinctive() -> None:
    market = "W @Anna: On Tuesday Anna went to the market for bread and milk."
    assert not is_used(market, "what shall I buy?", "Bread and milk from the market, as on each Tuesday.")
    assert is_used(
        market, "what shall I buy?", "Bread and milk from the market, as on each Tuesday.", with_filler=False
    )


def test_answer_with_one_fact_of_a_long_memory_uses_it() -> None:
    long = "W @Kiln: " + " ".join(
        f"The {metal} glaze wants cone {number} and a slow cooling over {number + 20} hours."
        for number, metal in enumerate(("copper", "cobalt", "chrome", "rutile", "titanium", "manganese"), 4)
    )
    assert is_used(long, "how do I fire the green one?", "Chrome: cone 6, slow cooling, 26 hours.")
    assert not is_used(long, "how do I fire the green one?", "Slow, I would say.")


def test_citation_of_its_line_or_id_uses_memory() -> None:
    assert is_used(KEY, "where is it?", f"See {LOG}#L3.")
    assert not is_used(KEY, "where is it?", f"See {LOG}#L31.")
    book = book_from({LOG: [KEY]})
    (memory,) = book.memories.values()
    assert is_used(KEY, "where is it?", f"As {memory.id[:8]} says.")
    assert not is_used(KEY, "where is it?", f"As {memory.id[:7]} says.")


def test_empty_and_huge_answers_are_handled() -> None:
    assert not is_used(KEY, "", "")
    assert not is_used(KEY, "", "the " * 200_000)
    assert is_used(KEY, "", "word " * 10_000 + "under the third flower pot is a spare key")
    assert used_memories([], question="x", answer="y", memories=[]) == []
