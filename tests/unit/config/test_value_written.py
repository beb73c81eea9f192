"""Writing one value into a configuration keeps comments and everything else."""

import json5
import pytest

from memoryd.config.loading.raw import with_value, without_key
from memoryd.errors import InvalidRequest

KEY = ("agents", "defaults", "memorySearch", "local", "modelPath")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "// mine\n{ /* } */ agents: { defaults: {}, }, }\n",
        '{"agents": {"defaults": {"memorySearch": {"local": {"threads": 2}}}}}',
        "{agents: {defaults: {memorySearch: {local: {'modelPath': 'x.gguf', // why\n threads: 2}}}}}",
        '{\r\n  "log": {"level": "INFO"},\r\n  "agents": {\r\n    "defaults": {"workspace": "~/日记"}\r\n  }\r\n}',
    ],
)
def test_value_is_written_and_the_rest_stays(text: str) -> None:
    before = json5.loads(text) if text else {}
    edited = with_value(text, KEY, 'hf:a/"b".gguf')
    after = json5.loads(edited)
    assert after["agents"]["defaults"]["memorySearch"]["local"].pop("modelPath") == 'hf:a/"b".gguf'
    expected = [word for word in ("// mine", "/* } */", "// why", "threads", "INFO", "日记") if word in text]
    assert [word for word in expected if word not in edited] == []
    assert edited.count("\n") >= text.count("\n")
    before.get("agents", {}).get("defaults", {}).get("memorySearch", {}).get("local", {}).pop("modelPath", None)
    assert after.get("log") == before.get("log")


def test_value_is_written_for_one_agent_of_the_list() -> None:
    text = "{agents: {list: [{id: 'a'}, {id: 'b'}]}}"
    edited = json5.loads(with_value(text, ("agents", "list", 1, *KEY[2:]), "m.gguf"))
    assert edited["agents"]["list"] == [{"id": "a"}, {"id": "b", "memorySearch": {"local": {"modelPath": "m.gguf"}}}]


@pytest.mark.parametrize("text", ["{agents: null}", "{agents: []}", "{agents: {defaults: 3}}"])
def test_value_of_another_type_in_the_way_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match=r"agents\.defaults\.memorySearch\.local\.modelPath cannot be written"):
        with_value(text, KEY, "m.gguf")


@pytest.mark.parametrize(
    "text",
    [
        '{"team": {"remote": "x", "share": ["a", "b"]}, "log": {"level": "INFO"}}',
        '{"log": {"level": "INFO"}, "team": {"remote": "}"}}',
        "{\n  // mine\n  log: {level: 'INFO'},\n  team: {\n    remote: 'x', // a } in a comment\n  },\n}\n",
        "{team: null, log: {level: 'INFO'}}",
    ],
)
def test_section_is_removed_and_the_rest_stays(text: str) -> None:
    edited = without_key(text, "team")
    assert json5.loads(edited) == {"log": {"level": "INFO"}}
    assert ("// mine" in edited) == ("// mine" in text)


def test_written_section_can_be_removed() -> None:
    text = "{agents: {list: [{id: 'a'}]}}\n"
    written = with_value(with_value(text, ("team", "person"), "ana"), ("team", "remote"), "~/x.git")
    assert json5.loads(without_key(written, "team")) == json5.loads(text)


def test_new_section_follows_the_indentation_and_its_removal_restores() -> None:
    text = "{\n    log: {level: 'INFO,}', note: '{ // }'}, // mine\n    agents: {list: [],},\n}\n"
    written = with_value(text, ("team", "remote"), "~/x.git")
    assert written == text.replace("list: [],},\n", 'list: [],},\n    "team": {\n        "remote": "~/x.git"\n    },\n')
    assert without_key(written, "team") == text
