"""Fair order of reading conversations, and detection of renamed ones."""

from memoryd.domain.documents import RelativePath
from memoryd.domain.sessions.making_turns import ReadingOrder, Renaming

A, B, C = (RelativePath(name) for name in "abc")


def test_begun_conversations_alternate_with_others() -> None:
    order = ReadingOrder(RelativePath(f"{number}") for number in range(10))
    order.begun.extend([A, B])
    taken = []
    while (path := order.next()) is not None:
        taken.append(path)
        if path in (A, B) and len(taken) < 14:
            order.begun.append(path)
    assert taken[:15] == ["0", "1", "2", "3", A, "4", "5", "6", "7", B, "8", "9", A, B, A]
    assert order.is_empty


def test_missing_conversation_waits_for_files_that_were_new() -> None:
    renaming = Renaming()
    renaming.note([A], [B])
    assert renaming.deleted_conversations([B, C]) == []
    renaming.note([A], [C])
    assert renaming.deleted_conversations([C]) == [A]
    renaming.note([], [])
    assert renaming.deleted_conversations([]) == []
