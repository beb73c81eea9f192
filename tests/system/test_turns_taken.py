"""Messages of a conversation, sent to the real daemon: commands, turns, bundles, capture, and the end of sessions."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest

from memoryd.client import Client
from memoryd.domain.memories.kinds import short_id
from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.tokens import estimate
from memoryd.errors import Disabled, InvalidRequest, NotFound
from memoryd.memory.recall.answer import NOTHING_ABOVE
from tests.daemon import RunningDaemon, write_config, write_workspace
from tests.sweeps import whole_or
from tests.system.files import contents
from tests.waiting import eventually

QUIET = {"id": "quiet", "workspace": "", "memory": {"auto_recall": False}}
SPARING = {"id": "sparing", "workspace": "", "memory": {"recall_final_k": 2, "retrieval": {"maxTokens": 150}}}
GENEROUS = {"id": "generous", "workspace": "", "memory": {"recall_final_k": 9, "retrieval": {"maxTokens": 4000}}}
NAMED = {"id": "named", "workspace": ""}
OFF = {"id": "off", "workspace": "", "memorySearch": {"enabled": False}}
PLUMS = "# Plums\n\n## Retain\n\n" + "".join(
    f"- W: The plum tree number {number} bears {word} plums.\n"
    for number, word in enumerate(("red", "blue", "late", "early", "sour", "sweet", "round", "long", "small", "great"))
)
"""Ten memories that answer one question."""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("turns")
    workspace = write_workspace(home / "workspace")
    config = write_config(home, workspace, None)
    given = json.loads(config.read_text())
    for agent in (QUIET, SPARING, GENEROUS, NAMED, OFF):
        (home / str(agent["id"]) / "memory").mkdir(parents=True)
    given["agents"]["list"] = [
        {"id": "main"},
        *({**agent, "workspace": str(home / str(agent["id"]))} for agent in (QUIET, SPARING, GENEROUS, NAMED, OFF)),
    ]
    config.write_text(json.dumps(given))
    for agent in (SPARING, GENEROUS):
        (home / str(agent["id"]) / "memory" / "2026-10-07.md").write_text(PLUMS)
    with RunningDaemon(home, config, workspace) as running:
        running.client().sync()
        yield running
        assert "Traceback" not in running.log.read_text()


@pytest.fixture
def client(daemon: RunningDaemon) -> Client:
    return daemon.client()


def key(name: str, agent: str = "main") -> str:
    return f"agent:{agent}:chat:direct:{name}"


def turns_of(client: Client, session: str | None) -> list[tuple[str, str | None]]:
    assert session is not None
    return [(turn["q"], turn["a"]) for turn in client.qa_session(session)["sequence"]]


def memories_of(daemon: RunningDaemon, session: str, kind: str) -> list[str]:
    lines = [line for path in (daemon.workspace / "memory").glob("2*.md") for line in path.read_text().splitlines()]
    return [line for line in lines if line.startswith(f"- {kind}(") and f"tags=session:{session})" in line]


def test_remember_and_recall_are_commands_and_no_turns(client: Client, daemon: RunningDaemon) -> None:
    done = client.turn("／remember 我喝不加糖的普洱茶", session_key=key("commands"))
    assert done["command"] is not None
    assert (done["command"]["name"], done["session"], done["remembered"]) == ("remember", None, False)
    (memory,) = done["command"]["memories"]
    found = client.turn("/recall 普洱茶", session_key=key("commands"))["command"]
    assert found is not None
    assert found["memories"] == [memory]
    assert "我喝不加糖的普洱茶" in found["text"]
    lines = "".join(path.read_text() for path in (daemon.workspace / "memory").glob("2*.md"))
    assert "- note(i=0.8, from=user): 我喝不加糖的普洱茶\n" in lines
    assert not client.qa_context(session_key=key("commands"))["sequence"]
    assert "say what" in str(client.turn("/remember", session_key=key("commands"))["command"])


def test_forget_command_deletes_the_one_memory_that_is_meant(client: Client, daemon: RunningDaemon) -> None:
    def told(message: str) -> str:
        command = client.turn(message, session_key=key("forgets"))["command"]
        assert command is not None
        return command["text"]

    def lines() -> str:
        return "".join(path.read_text() for path in (daemon.workspace / "memory").glob("2*.md"))

    for colour in ("amber", "violet"):
        told(f"/remember The gramophone horn is {colour}.")
    several = told("/forget gramophone")
    assert "Nothing was deleted: more than one memory says that." in several
    assert several.count("The gramophone horn is") == 2
    assert "Nothing was deleted: no memory says" in told("/forget what the gramophone weighs")
    assert "Nothing was deleted: say what" in told("/forget")
    assert len(told(f"/forget {'gramophone weight ' * 500}")) < 2_000
    assert lines().count("gramophone") == 2
    first, undo, forget = told("/forget horn is AMBER").splitlines()
    assert "Deleted: " in first
    assert "amber" not in lines()
    assert "amber" not in told("/recall which colour has the gramophone horn")
    client.undo(int(undo.split()[-3]))
    assert "amber" in lines()
    assert "Deleted: " in told(f"/forget {forget.split()[-3]}")
    assert daemon.memoryctl(*forget.split("memoryctl ")[1].split(), "--yes").returncode == 0
    assert "amber" not in lines()


def test_forget_command_deletes_what_was_said_just_before(client: Client) -> None:
    client.turn("My cousin Ottilie lives in Bergen.", session_key=key("takes-back"))
    command = client.turn("/forget Ottilie lives in Bergen", session_key=key("takes-back"))["command"]
    assert command is not None
    assert "Deleted: " in command["text"]


def test_recall_command_marks_superseded_memories(client: Client) -> None:
    for number in (3, 7):
        client.turn(f"/remember The kiln fires for {number} hours.", session_key=key("kiln"))

    def recalled_lines(question: str) -> list[str]:
        command = client.turn(f"/recall {question}", session_key=key("kiln"))["command"]
        return (command or {"text": ""})["text"].splitlines()

    lines = recalled_lines("how long does the kiln fire")
    (now,), (before,) = ([line for line in lines if f"{hours} hours" in line] for hours in (7, 3))
    assert not now.endswith(("(earlier)", "(no answer)"))
    assert "(earlier)" in before


def test_unknown_command_is_plain_text(client: Client) -> None:
    kept = client.turn("/foo bar", session_key=key("foo"))
    assert kept["command"] is None
    assert turns_of(client, kept["session"]) == [("/foo bar", None)]


def test_answer_is_added_to_the_last_question_once_per_part(client: Client) -> None:
    chat = key("answers")
    assert not client.turn("Nobody asked.", role="assistant", session_key=chat)["remembered"]
    client.turn("Are you there?", session_key=chat)
    second = client.turn("Which error holds the lease?", session_key=chat)
    again = client.turn("Which error holds the lease?", session_key=chat)
    assert (second["seq"], again["seq"], again["session"]) == (2, 2, second["session"])
    parts = ["Let me look.", "It is GW-4172: you should stop the second process first, because it holds the lease."]
    for part in (*parts, parts[-1]):
        assert client.turn(part, role="assistant", session_key=chat)["seq"] == 2
    answer = "\n\n".join(parts)
    assert turns_of(client, second["session"]) == [("Are you there?", None), ("Which error holds the lease?", answer)]
    third = client.turn("Which error holds the lease?", session_key=chat)
    assert third["seq"] == 3, "after an answer it is a new question"
    assert [turn["seq"] for turn in third["sequence"]] == [1, 2]


def test_session_withheld_by_name_is_not_captured(client: Client, daemon: RunningDaemon) -> None:
    chat = key("withheld")
    session = client.turn("Are you there?", session_key=chat)["session"]
    assert session is not None
    client.remember_session(session, remember=False)
    reply = client.turn("My favourite colour is withheldgreen.", session_key=chat)
    failed = client.turn(role="tool", event="failure", event_text="withheldgreen failed", session_key=chat)
    assert (reply["remembered"], reply["capture"], failed["capture"]) == (False, "no", "no")


def test_order_of_times_does_not_matter(client: Client) -> None:
    chat = key("times")
    first = client.turn("Now?", session_key=chat, at="2026-11-20T12:00:00Z")
    earlier = client.turn("Before?", session_key=chat, at="2026-11-20T11:00:00Z")
    again = client.turn("Now?", session_key=chat, at="2026-11-20T12:00:00Z")
    assert (first["seq"], earlier["seq"], again["seq"]) == (1, 2, 1)
    with pytest.raises(InvalidRequest, match="at:"):
        client.turn("When?", session_key=chat, at="tomorrow-ish")
    with pytest.raises(InvalidRequest, match="the text is empty"):
        client.turn("", session_key=chat)


def test_late_message_is_placed_by_its_time(client: Client) -> None:
    chat = key("late")
    client.turn("Which boat do we hire?", session_key=chat, at="2026-11-20T12:00:00Z")
    client.turn("And which skipper?", session_key=chat, at="2026-11-20T12:10:00Z")
    late = client.turn("How long is the pier?", session_key=chat, at="2026-11-20T12:05:00Z")
    reply = client.turn("hmm, are you sure?", session_key=chat, at="2026-11-20T12:11:00Z")
    assert [turn["seq"] for turn in reply["sequence"]] == [1, 3, 2]
    shown = client.qa_session(str(late["session"]))["sequence"]
    assert [turn["q"] for turn in shown][:3] == [
        "Which boat do we hire?",
        "How long is the pier?",
        "And which skipper?",
    ]
    before = client.turn("What is a dinghy?", session_key=chat, at="2026-11-19T12:00:00Z")
    assert before["session"] != late["session"]
    answered = client.turn("A small boat.", role="assistant", session_key=chat, at="2026-11-19T12:00:05Z")
    assert (answered["session"], answered["seq"]) == (before["session"], 1)


def test_vague_message_continues_its_own_session(client: Client) -> None:
    client.turn("hmm, the walrus 嗯 然后呢", session_key=key("bait"), at="2026-09-20T12:00:00Z")
    here = key("here")
    first = client.turn("Which glaze suits the big vase?", session_key=here)
    for message in ("hmm, are you sure?", "嗯 然后呢", "ok, well, go on", "and that one?"):
        reply = client.turn(message, session_key=here)
        assert {turn["session"] for turn in reply["sequence"]} == {first["session"]}
    away = client.turn("by the way, what about the walrus?", session_key=here)
    assert {turn["q"] for turn in away["sequence"]} == {"hmm, the walrus 嗯 然后呢"}


def test_bundle_is_recalled_unless_disabled_or_without_a_user(client: Client) -> None:
    question = "Which error means that a second process holds the lease?"
    reply = client.turn(question, session_key=key("recall"), k=1)
    assert "GW-4172" in str(reply["bundle"])
    assert reply["verdict"] == "answerable"
    unchanged = client.turn("And which one was it, again?", session_key=key("recall"), if_none_match=reply["etag"])
    assert unchanged["notModified"]
    assert "alder" not in str(unchanged["bundle"])
    cron = client.turn(question, session_key="agent:main:cron:daily")
    heartbeat = client.turn(question, session_key=key("recall"), channel="heartbeat")
    for kept in (cron, heartbeat):
        assert (kept["bundle"], kept["health"]["recall"]["state"]) == (None, "off")
    quiet = client.turn(question, session_key=key("quiet", "quiet"))
    assert (quiet["bundle"], quiet["remembered"]) == (None, True)
    assert "auto_recall" in str(quiet["health"]["recall"]["reason"])
    with pytest.raises(Disabled):
        client.turn(question, session_key=key("off", "off"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("lgtm", SkipReason.SMALL_TALK),
        ("谢谢", SkipReason.SMALL_TALK),
        ("👍", SkipReason.NO_CONTENT),
        ("no, more formal", SkipReason.ABOUT_OUTPUT),
        ("what's 17 * 23?", SkipReason.ARITHMETIC),
        ("2026-10-01 08:00:00 INFO lease ok\n2026-10-01 08:01:00 INFO lease ok", SkipReason.PASTED_OUTPUT),
        ("what is a lease", NOTHING_ABOVE),
    ],
)
def test_message_without_a_question_gets_only_the_stable_block(client: Client, text: str, why: str) -> None:
    reply = client.turn(text, session_key=key("nothing"))
    assert "alder" in str(reply["bundle"])
    assert "<recalled-memory>" not in str(reply["bundle"])
    assert reply["health"]["recall"] == {"state": "ok", "reason": f"nothing is recalled: {why}"}
    again = client.turn(text, session_key=key("nothing"), if_none_match=reply["etag"])
    assert again["bundle"] == ""


def test_explicit_recall_returns_the_nearest_to_a_vague_question(client: Client) -> None:
    question = "what is a lease"
    assert "<recalled-memory>" not in str(client.turn(question, session_key=key("nearest"))["bundle"])
    assert client.recall(question)["results"]
    assert "<recalled-memory>" in str(client.recall(question, format="bundle")["bundle"])


def test_each_part_of_a_message_is_recalled(client: Client) -> None:
    for text in ("The ferret is called Bandit.", "The ferret eats minced quail.", "My loft insulation is sheep wool."):
        client.turn(f"/remember {text}", session_key=key("parts"))
    message = "Hi! My ferret Bandit wants his minced quail, and what was my loft insulated with?"
    recalled = str(client.turn(message, session_key=key("parts"))["bundle"]).partition("<recalled-memory>")[2]
    assert "sheep wool" in "".join(recalled.split("<note")[:4])


@pytest.mark.parametrize(("agent", "most"), [("sparing", 2), ("generous", 9)])
def test_number_of_recalled_memories_is_set_per_agent(client: Client, agent: str, most: int) -> None:
    def recalled_count(**options: Any) -> int:
        reply = client.turn("Which plum tree bears plums?", session_key=key("plums", agent), budget=4000, **options)
        return str(reply["bundle"]).count("The plum tree number")

    assert (recalled_count(), recalled_count(k=1)) == (most, 1)
    command = client.turn("/recall plum tree", session_key=key("plums", agent))["command"]
    assert str(command).count("The plum tree number") == most


def test_token_budget_is_set_per_agent(client: Client) -> None:
    def bundle_of(agent: str, **options: Any) -> str:
        return str(
            client.turn("Which plum tree bears plums?", session_key=key("size", agent), k=9, **options)["bundle"]
        )

    assert estimate(bundle_of("sparing")) <= 150
    assert estimate(bundle_of("generous")) > 150
    assert bundle_of("sparing", budget=4000).count("The plum tree") > bundle_of("sparing").count("The plum tree") > 0


def test_message_of_any_length_is_answered(client: Client) -> None:
    long = client.turn("lease " * 16_000, session_key=key("long"))
    assert (long["remembered"], long["health"]["recall"]["state"]) == (True, "ok")
    assert client.turn("\x00\u202e\u200b", session_key=key("odd"))["health"]["recall"]["state"] == "ok"


@pytest.mark.sweep
def test_stable_block_is_the_same_for_many_turns(client: Client) -> None:
    texts = [f"Turn {number}: which error, and 哪个错误 {number}?" for number in range(whole_or(30, 100))]
    replies = [client.turn(text, session_key=key("stable")) for text in texts]
    blocks = {str(reply["bundle"]).partition("</core-memory>\n")[0] for reply in replies}
    assert len(blocks) == 1
    assert len({reply["etag"] for reply in replies}) == 1
    assert "alder" in blocks.pop()


def test_later_name_replaces_the_earlier(client: Client) -> None:
    def core() -> str:
        return str(client.recall("How am I called?", format="bundle")["bundle"]).partition("</core-memory>")[0]

    client.turn("Please call me Rudolfo.", session_key=key("older"), at="2026-11-02T12:00:00Z")
    eventually(lambda: "Rudolfo" in core())
    client.turn("Please call me Rodrigo.", session_key=key("newer"), at="2026-11-04T12:00:00Z")
    eventually(lambda: "Rodrigo" in core())
    assert "Rudolfo" not in core()


def test_correction_of_the_last_message_is_recalled(client: Client) -> None:
    for text in ("Remember that the harpsichord lesson is on Monday at 16:00.", "no, Tuesday, not Monday"):
        client.turn(text, session_key=key("lesson"))
        client.turn("Noted.", session_key=key("lesson"), role="assistant")

    def bundle() -> str:
        return str(client.turn("When is the harpsichord lesson?", session_key=key("later"))["bundle"])

    eventually(lambda: "lesson is on Tuesday at 16:00" in bundle())


def test_recalled_memory_is_touched_once_per_turn(client: Client) -> None:
    client.turn("/remember The zeppelin hangar is painted vermilion.", session_key=key("touch"))
    (memory,) = [
        item["id"] for item in client.recall("vermilion hangar", touch=False)["results"] if item["is"] == "memory"
    ]

    def touches() -> int:
        return int(client.get_memory(memory)["memory"]["access_count"])

    before = touches()
    for _ in range(2):
        client.turn("What colour has the zeppelin hangar?", session_key=key("touch"))
    assert touches() == before + 1, "the same message, sent again"


def test_end_summarizes_only_the_rest_and_is_forgotten_with_its_session(client: Client, daemon: RunningDaemon) -> None:
    chat = key("ends")
    client.turn("/remember The hull of the boat is varnished with linseed oil.", session_key=chat)
    name = client.turn("Which varnish does the boat need?", session_key=chat)["session"]
    client.turn("We decided to use linseed oil.", session_key=chat)
    summary, again = (client.turn("/compact", session_key=chat)["command"] for _ in range(2))
    assert summary is not None
    assert again is not None
    assert "Decided: We decided to use linseed oil." in summary["text"]
    assert "there is no newer message" in again["text"]
    for text in ("Which colour do the oars get?", "We decided to paint the oars green.", "Who sells such paint?"):
        client.turn(text, session_key=chat)
    for _ in range(2):
        client.turn(role="system", event="end", session_key=chat)
    assert name is not None
    eventually(lambda: memories_of(daemon, name, "session"))
    (line,) = memories_of(daemon, name, "session")
    assert "Asked: Which colour do the oars get?" in line
    assert "linseed" not in line, "the summary has it"
    kinds = [item["type"] for item in client.recall("linseed oil")["results"] if item["is"] == "memory"]
    assert kinds.index("note") < kinds.index("summary"), "the fact ranks before its summary"
    fresh = client.turn("A new conversation, is it not?", session_key=chat)
    assert (fresh["session"] != name, fresh["seq"]) == (True, 1)
    assert "2 memories that were made of it went with it" in client.forget_session(f"session:{name}")["remarks"]
    assert (memories_of(daemon, name, "session"), memories_of(daemon, name, "summary")) == ([], [])


def test_brief_session_leaves_no_memory(client: Client, daemon: RunningDaemon) -> None:
    chat = key("brief")
    name = client.turn("We decided to use walnut oil.", session_key=chat)["session"]
    client.turn(role="system", event="end", session_key=chat)
    file = daemon.workspace / "memory" / "sessions" / f"{name}.json"
    eventually(lambda: '"end": "told"' in file.read_text())
    assert memories_of(daemon, str(name), "session") == []


SECRETS = (
    "Remember that my PIN is 4711.",
    "My IBAN is AT611904300234573201.",
    "My door code is 8842.",
    "My passphrase is correct horse battery.",
    "My safe opens with 7391.",
    "My login is bob / blafasel99.",
)


def test_summaries_contain_no_secret(client: Client, daemon: RunningDaemon) -> None:
    chat = key("vault")
    for text in (*SECRETS, "We decided to paint the vault grey."):
        name = client.turn(text, session_key=chat)["session"]
    assert "paint the vault" in str(client.turn("/compact", session_key=chat)["command"])
    for text in (*SECRETS, "Who sells grey paint?"):
        client.turn(text, session_key=chat)
    client.turn(role="system", event="end", session_key=chat)
    eventually(lambda: memories_of(daemon, str(name), "session"))
    lines = "\n".join(memories_of(daemon, str(name), "session") + memories_of(daemon, str(name), "summary"))
    assert "Who sells grey paint?" in lines
    assert not [word for word in ("4711", "AT61", "8842", "horse", "7391", "blafasel") if word in lines]


def test_summaries_omit_deleted_memories(client: Client, daemon: RunningDaemon) -> None:
    chat, message = key("undone"), "My sister's name is Clarabella."
    name = client.turn(message, session_key=chat)["session"]

    def captured() -> list[str]:
        return [memory["id"] for memory in client.memories(limit=100)["memories"] if memory["text"] == message]

    eventually(captured)
    client.delete_memory(captured()[0])
    client.turn("Who paints the boat?", session_key=chat)
    client.turn(role="system", event="end", session_key=chat)
    eventually(lambda: memories_of(daemon, str(name), "session"))
    (line,) = memories_of(daemon, str(name), "session")
    assert "Who paints the boat?" in line
    assert "Clarabella" not in line


def test_summary_of_small_talk_has_the_questions(client: Client, daemon: RunningDaemon) -> None:
    chat = key("eggs")
    for question, answer in (("How do I boil an egg?", "Six minutes."), ("And hard?", "Ten minutes.")):
        name = client.turn(question, session_key=chat)["session"]
        client.turn(answer, role="assistant", session_key=chat)
    summary = str(client.turn("/compact", session_key=chat)["command"])
    assert "Asked: How do I boil an egg? · And hard?" in summary
    assert "Nothing of it is significant" in summary
    client.turn("What about altitude?", session_key=chat)
    client.turn("Longer.", role="assistant", session_key=chat)
    client.turn(role="system", event="end", session_key=chat)
    eventually(lambda: memories_of(daemon, str(name), "session"))
    (line,) = memories_of(daemon, str(name), "session")
    assert line.endswith("Asked: What about altitude?")


def test_older_messages_after_an_end_share_a_session(client: Client) -> None:
    chat = key("older")
    first = client.turn("Is it noon?", session_key=chat, at="2026-11-20T12:00:00Z")["session"]
    client.turn(role="system", event="end", session_key=chat)
    later = [
        client.turn(text, session_key=chat, at=f"2026-11-20T11:0{number}:00Z")["session"]
        for number, text in enumerate(("Is it eleven?", "Is it past eleven?"))
    ]
    assert later[0] == later[1] != first


def test_old_answer_does_not_answer_the_current_question(client: Client) -> None:
    chat = key("march")
    march = client.turn("Which rope holds the awning?", session_key=chat, at="2026-03-10T12:00:00Z")
    client.turn(role="system", event="end", session_key=chat)
    now = client.turn("Which rope holds the swing?", session_key=chat)
    reply = client.turn("The blue one.", role="assistant", session_key=chat, at="2026-03-10T12:00:05Z")
    assert (reply["session"], reply["seq"]) == (march["session"], 1)
    lost = client.turn("The red one.", role="assistant", session_key=chat, at="2026-02-01T12:00:00Z")
    assert (lost["session"], lost["health"]["log"]["state"]) == (None, "off")
    reply = client.turn("The chain.", role="assistant", session_key=chat)
    assert (reply["session"], reply["seq"]) == (now["session"], 1)


def test_answered_conversation_ranks_before_the_repeated_question(client: Client) -> None:
    beans = key("beans")
    client.turn("How long do the borlotti beans soak?", session_key=beans, at="2026-11-20T10:00:00Z")
    answer = "Overnight, about twelve hours in cold water, because they are old."
    first = client.turn(answer, role="assistant", session_key=beans, at="2026-11-20T10:00:05Z")
    question = "how long do the borlotti beans soak again?"
    again = client.turn(question, session_key=beans)
    assert answer in again["context"], "the context of the message has the conversation"

    def found(sources: list[str], most: int = 6) -> list[str]:
        hits = client.search(question, sources=sources, max_results=most)["results"]
        return [hit["path"] for hit in hits if "borlotti" in hit["snippet"]]

    names = [f"session:{reply['session']}" for reply in (first, again)]
    eventually(lambda: set(found(["sessions"])) == set(names))
    assert found(["sessions"]) == found(["memory", "sessions"]) == names
    assert found(["sessions"], 1) == names[:1]


def test_withheld_session_stores_nothing(client: Client, daemon: RunningDaemon) -> None:
    chat = key("secret")
    client.remember_session(session_key=chat, remember=False)
    reply = client.turn("Remember that my alarm code is blue-heron.", session_key=chat)
    assert (reply["remembered"], reply["capture"], reply["health"]["log"]["state"]) == (False, "no", "off")
    assert reply["bundle"] is not None
    client.turn("I will.", role="assistant", session_key=chat)
    assert "nothing to sum up" in str(client.turn("/compact", session_key=chat)["command"])
    client.turn(role="system", event="end", session_key=chat)
    written = [path.read_text() for path in daemon.workspace.rglob("*") if path.is_file()]
    assert written
    assert not [text for text in written if "blue-heron" in text]


def test_tool_failure_becomes_a_memory(client: Client, daemon: RunningDaemon) -> None:
    reply = client.turn(
        role="tool", event="failure", event_text="the crawler hung on the third page", session_key=key("failed")
    )
    assert reply["capture"] == "unsaved", "no session has its text"

    def lines() -> list[str]:
        texts = [path.read_text() for path in (daemon.workspace / "memory").glob("2*.md")]
        return [line for text in texts for line in text.splitlines() if line.startswith("- failure")]

    eventually(lines)
    assert "the crawler hung on the third page" in lines()[0]


def test_undone_or_deleted_memory_is_not_captured_again(client: Client) -> None:
    def dropped_reasons(text: str) -> list[str]:
        return [row["reason"] for row in client.capture(text, dry_run=True)["dropped"]]

    undone = client.capture("I like marzipan with figs.")["change"]
    client.undo(undone)
    assert dropped_reasons("I like marzipan with figs.") == [SkipReason.TAKEN_BACK], "at once"
    assert client.capture("i like marzipan with figs!")["change"] is None
    done = client.turn("/remember I like marzipan with figs.", session_key=key("again"))["command"]
    assert done is not None
    eventually(lambda: dropped_reasons("I like marzipan with figs.") == [])
    client.delete_memory(done["memories"][0])
    eventually(lambda: dropped_reasons("I like marzipan with figs.") == [SkipReason.TAKEN_BACK])


def test_memory_in_a_moved_log_does_not_count_as_deleted(client: Client, daemon: RunningDaemon) -> None:
    def dropped_reasons() -> list[str]:
        return [row["reason"] for row in client.capture("I like quince jelly.", dry_run=True)["dropped"]]

    log = daemon.workspace / "memory" / "2026-01-05.md"
    client.turn("I like quince jelly.", session_key=key("quinces"), at="2026-01-05T12:00:00Z")
    eventually(log.exists)
    for folder in ("memory/archive", "memory/2026/winter"):
        moved = daemon.workspace / folder / log.name
        moved.parent.mkdir(parents=True, exist_ok=True)
        log = log.rename(moved)
        client.sync()
        eventually(lambda: dropped_reasons() == [])
    log.unlink()
    client.sync()
    eventually(lambda: dropped_reasons() == [SkipReason.TAKEN_BACK])


def test_names_given_at_once_supersede_in_order(client: Client, daemon: RunningDaemon) -> None:
    names = ["Ann Berger", "Zoe Clark", "Bob Lee", "Kim Poe", "Al Roe"]
    for day, name in enumerate(names):
        message, at = f"Hello, my name is {name}.", f"2026-11-1{day}T11:00:00Z"
        assert client.turn(message, session_key=key(f"name{day}", "named"), at=at)["capture"] == "queued"
    folder = daemon.home / "named" / "memory"
    eventually(lambda: len(list(folder.glob("2026-11-1*.md"))) == len(names))

    texts = [(folder / f"2026-11-1{day}.md").read_text() for day in range(len(names))]
    lines = [line for text in texts if isinstance(line := parse_line(text.splitlines()[-1]), RetainedLine)]
    ids = [(short_id(line.id),) for line in lines]
    assert [line.attributes.supersedes for line in lines] == [(), *ids[:-1]]

    def recalled_names() -> list[str]:
        bundle = str(client.turn("What is up today?", session_key=key("asks", "named"))["bundle"])
        return [name for name in names if name in bundle]

    eventually(lambda: recalled_names() == names[-1:])


def test_session_started_again_after_forgetting_is_captured(client: Client, daemon: RunningDaemon) -> None:
    def logs() -> str:
        return "".join(path.read_text() for path in (daemon.home / "named" / "memory").glob("2*.md"))

    chat = key("anew", "named")
    first = client.turn("My dog is called Rex.", session_key=chat)
    eventually(lambda: "called Rex" in logs())
    client.forget_session(str(first["session"]), agent="named")
    again = client.turn("My cat is called Tom.", session_key=chat)

    assert (again["session"], again["seq"], again["capture"]) == (first["session"], first["seq"], "queued")
    eventually(lambda: "called Tom" in logs())


def test_read_only_answers_and_writes_nothing(tmp_path: Path) -> None:
    workspace = write_workspace(tmp_path / "workspace")
    config = write_config(tmp_path, workspace, None, memory={"readOnly": True})
    with RunningDaemon(tmp_path, config, workspace) as running:
        client = running.client()
        client.sync()
        before = contents(workspace)
        reply = client.turn("Which error means that a second process holds the lease?", session_key=key("reads"))
        assert "GW-4172" in str(reply["bundle"])
        assert (reply["remembered"], reply["capture"]) == (False, "off")
        assert client.turn("/recall lease", session_key=key("reads"))["command"] is not None
        client.turn(role="system", event="end", session_key=key("reads"))
        assert contents(workspace) == before


def test_commands_and_recall_work_without_conversations(tmp_path: Path) -> None:
    workspace = write_workspace(tmp_path / "workspace")
    config = write_config(tmp_path, workspace, None, memory={"qa": {"enabled": False}})
    with RunningDaemon(tmp_path, config, workspace) as running:
        client = running.client()
        client.sync()
        reply = client.turn("Which error means that a second process holds the lease?", session_key=key("bare"))
        assert "GW-4172" in str(reply["bundle"])
        assert (reply["remembered"], reply["health"]["context"]["state"]) == (False, "off")
        assert client.turn("/remember I take tea", session_key=key("bare"))["command"] is not None
        assert not (workspace / "memory" / "sessions").exists()


def test_kill_between_question_and_answer_and_at_the_end(tmp_path: Path) -> None:
    """A question survives a kill and gets its answer; an ended session gets exactly one memory."""
    workspace = write_workspace(tmp_path / "workspace")
    running = RunningDaemon(tmp_path, write_config(tmp_path, workspace, None), workspace)
    with running:
        name = running.client().turn("Which varnish does the boat need?", session_key=key("kill"))["session"]
        running.kill()
        running.start()
        answered = running.client().turn("Linseed oil.", role="assistant", session_key=key("kill"))
        assert (answered["session"], answered["seq"]) == (name, 1)
        for text in ("We decided to use linseed oil.", "Who sells it here?"):
            running.client().turn(text, session_key=key("kill"))
        for _ in range(3):
            running.client().turn(role="system", event="end", session_key=key("kill"))
            running.kill()
            running.start()
        assert name is not None
        file = workspace / "memory" / "sessions" / f"{name}.json"
        eventually(lambda: '"end": "told"' in file.read_text())
        assert len(memories_of(running, name, "session")) == 1
        assert_two_clients_that_send_again_are_stored_once(running)
        assert_nothing_queued_is_lost(running)
        assert_reply_says_what_a_kill_would_lose(running)


def assert_two_clients_that_send_again_are_stored_once(running: RunningDaemon) -> None:
    """Two clients of one session take turns; after a kill, both send again what they have no reply for."""
    asked = ["Who mends the sail?", "Who mends the oars?"]
    for text in asked:
        session = running.client().turn(text, session_key=key("both"))["session"]
    running.kill()
    running.start()
    assert [running.client().turn(text, session_key=key("both"))["seq"] for text in asked] == [1, 2]
    answers = ["Ada does.", "Bob does."]
    for text in answers * 2:
        running.client().turn(text, role="assistant", session_key=key("both"))
    assert turns_of(running.client(), session) == [(asked[0], None), (asked[1], "\n\n".join(answers))]


def assert_nothing_queued_is_lost(running: RunningDaemon) -> None:
    """Send thirty messages at once and kill the daemon: each is captured exactly once, though one is sent again."""
    messages = [f"I like the music of band{number}." for number in range(30)]
    with ThreadPoolExecutor(len(messages)) as threads:
        send = lambda text: running.client().turn(text, session_key=key("queued"))["capture"]  # noqa: E731
        assert set(threads.map(send, messages)) == {"queued"}
    running.kill()
    running.start()
    running.client().turn(messages[-1], session_key=key("queued"))

    def captured() -> list[str]:
        logs = (running.workspace / "memory").glob("2*.md")
        return sorted(
            line.rsplit(": ", 1)[-1] for log in logs for line in log.read_text().splitlines() if "band" in line
        )

    def missing() -> set[str]:
        return set(messages) - set(captured())

    # wait as long as more arrive, since the machine may be slow
    while left := missing():
        eventually(lambda: missing() < left)
    assert [text for text in captured() if text in messages] == sorted(messages)


def assert_reply_says_what_a_kill_would_lose(running: RunningDaemon) -> None:
    """While another process locks the ledger, what a message states is in memory only; a question states nothing."""
    other = apsw.Connection(str(next(running.state.rglob("ledger.sqlite"))))
    other.set_busy_timeout(10_000)
    other.execute("BEGIN IMMEDIATE")
    try:
        states = {
            text: running.client().turn(text, session_key=key("locked"))["capture"]
            for text in ("I like the music of Abba.", "Who sells records?")
        }
        forgotten = running.client().turn("/forget the music of Abba", session_key=key("locked"), deadline_ms=500)
    finally:
        other.close()
    assert list(states.values()) == ["unsaved", "queued"]
    assert "What was said just before is still to be captured" in str(forgotten["command"])


def test_idle_session_ends_and_is_summarized_in_the_log_of_its_day(tmp_path: Path) -> None:
    workspace = write_workspace(tmp_path / "workspace")
    running = RunningDaemon(tmp_path, write_config(tmp_path, workspace, None, memory={"timezone": "UTC"}), workspace)
    with running:
        client = running.client()
        for minute, text in enumerate(("哪个端口是网关的？", "我们决定用第二个端口。", "谁来改配置文件？")):
            at = f"2026-10-19T12:0{minute}:00Z"
            name = client.turn(text, session_key=key("rests"), at=at)["session"]
        young = client.turn("Which port is it?", session_key=key("young"))["session"]
        running.stop()
        running.start()
        assert name is not None
        assert young is not None
        eventually(lambda: memories_of(running, name, "session"))
        log = (workspace / "memory" / "2026-10-19.md").read_text()
        assert "问：哪个端口是网关的？决定：我们决定用第二个端口。" in log
        assert memories_of(running, young, "session") == []


def test_shown_parts_are_listed_and_judged(client: Client) -> None:
    chat = key("told", "sparing")
    first = client.turn("Which plum tree bears blue plums?", session_key=chat, agent="sparing")
    second = client.turn("Which plum tree bears sour plums?", session_key=chat, agent="sparing")
    session = str(first["session"])
    later, earlier = client.told(session=session, agent="sparing")["turns"]
    assert (later["seq"], later["q"], later["verdict"]) == (2, "Which plum tree bears sour plums?", second["verdict"])
    assert [(part["name"], part["tokens"], part["told"]) for part in earlier["parts"]] == [
        (line["name"], line["tokens"], line["told"]) for line in first["receipt"]
    ]
    shown = next(part for part in earlier["parts"] if part["told"])
    assert (shown["content"], shown["verdict"]) == ("The plum tree number 1 bears blue plums.", "answerable")
    assert later["stableSince"] == earlier["stableSince"] == 1
    assert later["sequenceTokens"] > 0
    client.judge_told(earlier["number"], shown["name"], "noise", agent="sparing")
    (judged,) = client.told(before=later["number"], session=session, agent="sparing")["turns"]
    assert next(part for part in judged["parts"] if part["name"] == shown["name"])["judgement"] == "noise"
    with pytest.raises(NotFound):
        client.judge_told(earlier["number"], "another", "wrong", agent="sparing")
    assert all(turn["session"] != session for turn in client.told()["turns"]), "the turn of another agent"
    client.forget_session(session, agent="sparing")
    assert client.told(session=session, agent="sparing")["turns"] == []
