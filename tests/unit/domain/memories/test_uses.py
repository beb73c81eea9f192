"""Which memories an answer uses: by its citation, or by distinctive words that the question lacks."""

from memoryd.domain.memories.uses import used_memories
from tests.unit.domain.memories.books import book_from

LOG = "memory/2026-03-10.md"
FILL = [f"W @Anna: On Tuesday number {number} Anna went to the market for bread and milk." for number in range(200)]


def used(line: str, question: str, answer: str, *, others: tuple[str, ...] = (), fill: bool = True) -> bool:
    book = book_from({LOG: [line, *others, *(FILL if fill else [])]})
    memory = next(one for one in book.memories.values() if one.sources[0].start_line == 3)
    told = [(memory, f"{LOG}#L3")]
    found = used_memories(told, question=question, answer=answer, memories=book.memories.values())
    assert found in ([], [memory.id])
    return bool(found)


KEY = "W: The spare key is under the third flower pot."
TEA = "W @朵朵: 朵朵不吃香菜和苦瓜。"


def test_distinctive_words_of_a_memory_in_the_answer_use_it() -> None:
    assert used(KEY, "where is the spare key?", "It is under the third flower pot.")
    assert used(KEY, "I am locked out", "Look under the third flower pot: there is a spare key.")
    assert used("W: Device A is a fnOS NAS.", "what is device A?", "That one runs fnOS.")
    assert used(TEA, "今晚做什么菜给朵朵", "她不吃香菜和苦瓜，做番茄炒蛋吧。")
    assert used("W @Anna: Anna's door code is 4711.", "what is the code of Anna's door?", "4711")


def test_words_of_the_question_and_small_talk_use_nothing() -> None:
    assert not used(KEY, "where is the spare key?", "I do not know where the spare key is.")
    assert not used(KEY, "lgtm", "Okay.")
    assert not used(KEY, "谢谢", "好的。")
    assert not used(TEA, "朵朵几点放学", "朵朵四点放学。")
    assert not used(KEY, "what's 17 * 23?", "391")
    assert not used(KEY, "which third-party library is it?", "The third one.")


def test_words_that_most_memories_hold_are_not_distinctive() -> None:
    market = "W @Anna: On Tuesday Anna went to the market for bread and milk."
    assert not used(market, "what shall I buy?", "Bread and milk from the market, as on each Tuesday.")
    assert used(market, "what shall I buy?", "Bread and milk from the market, as on each Tuesday.", fill=False)


def test_answer_that_takes_one_fact_of_a_long_memory_uses_it() -> None:
    long = "W @Kiln: " + " ".join(
        f"The {metal} glaze wants cone {number} and a slow cooling over {number + 20} hours."
        for number, metal in enumerate(("copper", "cobalt", "chrome", "rutile", "titanium", "manganese"), 4)
    )
    assert used(long, "how do I fire the green one?", "Chrome: cone 6, slow cooling, 26 hours.")
    assert not used(long, "how do I fire the green one?", "Slow, I would say.")


def test_citation_uses_it_and_that_of_another_line_does_not() -> None:
    assert used(KEY, "where is it?", f"See {LOG}#L3.")
    assert not used(KEY, "where is it?", f"See {LOG}#L31.")
    book = book_from({LOG: [KEY]})
    (memory,) = book.memories.values()
    assert used(KEY, "where is it?", f"As {memory.id[:8]} says.")
    assert not used(KEY, "where is it?", f"As {memory.id[:7]} says.")


def test_empty_and_huge_answers_are_no_trouble() -> None:
    assert not used(KEY, "", "")
    assert not used(KEY, "", "the " * 200_000)
    assert used(KEY, "", "word " * 10_000 + "under the third flower pot is a spare key")
    assert used_memories([], question="x", answer="y", memories=[]) == []
