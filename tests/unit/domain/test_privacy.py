import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.text.privacy import is_private
from tests.sweeps import whole_or
from tests.waiting import soon

PADDING = "".join(f"key{number}: a value of some length\n" for number in range(1000))

PRIVATE = {
    "plain": "---\nmemory: false\n---\nbody",
    "blank line after the ruler": "---\n\nmemory: false\n---\nbody",
    "blank lines before the ruler": "\n \n---\nmemory: false\n---\nbody",
    "long block": f"---\n{PADDING}memory: false\n---\nbody",
    "long block, false first": f"---\nmemory: false\n{PADDING}---\nbody",
    "comment beside broken yaml": "---\ntags: [a\nmemory: false # for now\n---\nbody",
    "double quotes": '---\nmemory: "false"\n---\nbody',
    "single quotes": "---\nmemory: 'no'\n---\nbody",
    "quotes in quotes": "---\nmemory: \"'false'\"\n---\nbody",
    "quoted key": '---\n"memory": false\n---\nbody',
    "upper case": "---\nMemory: FALSE\n---\nbody",
    "capital": "---\nmemory: False\n---\nbody",
    "off": "---\nmemory: off\n---\nbody",
    "zero": "---\nmemory: 0\n---\nbody",
    "space before the colon": "---\nmemory : false\n---\nbody",
    "no space behind the colon": "---\nmemory:false\n---\nbody",
    "wide colon": "---\nmemory：false\n---\nbody",
    "equals sign": "---\nmemory = false\n---\nbody",
    "crlf": "---\r\nmemory: false\r\n---\r\nbody",
    "cr": "---\rmemory: false\r---\rbody",
    "byte order mark": "\ufeff---\nmemory: false\n---\nbody",
    "two byte order marks": "\ufeff\ufeff---\nmemory: false\n---\nbody",
    "utf-16 read as utf-8": "---\nmemory: false\n---\nbody".encode("utf-16-le").decode(),
    "unclosed": "---\nmemory: false\nbody",
    "unclosed and long": f"---\n{PADDING}memory: false\nbody",
    "only the block": "---\nmemory: false\n---",
    "only the line": "---\nmemory: false",
    "closed by dots": "---\nmemory: false\n...\nbody",
    "four dashes": "----\nmemory: false\n----\nbody",
    "tab before": "---\n\tmemory: false\n---\nbody",
    "tab behind": "---\nmemory:\tfalse\t\n---\nbody",
    "no-break space": "---\nmemory:\xa0false\n---\nbody",
    "indented": "---\ntool:\n  memory: false\n---\nbody",
    "in a list": "---\n- memory: false\n---\nbody",
    "flow": "---\n{title: x, memory: false}\n---\nbody",
    "broken flow": "---\n{title: [x, memory: false\n---\nbody",
    "on the line of the ruler": "--- {memory: false}\n---\nbody",
    "explicit key": "---\n? memory\n: false\n---\nbody",
    "escaped key": '---\n"mem\\u006fry": false\n---\nbody',
    "tag": '---\nmemory: !!bool "false"\n---\nbody',
    "true after false": "---\nmemory: false\nmemory: true\n---\nbody",
    "false after true": "---\nmemory: true\nmemory: false\n---\nbody",
    "anchor beside it": "---\na: &x 1\nb: *x\nmemory: false\n---\nbody",
    "a word nobody knows": "---\nmemory: private\n---\nbody",
    "no value": "---\nmemory:\n---\nbody",
    "null": "---\nmemory: ~\n---\nbody",
    "slip of the key": "---\nmemory: flase\n---\nbody",
    "comment behind a quote": "---\nmemory: 'false' # x\n---\nbody",
    "closed by three dashes only": "---\ntitle: x\n-----\nmemory: false\n---\nbody",
    "closed by three dots only": "---\ntitle: x\n....\nmemory: false\n---\nbody",
    "not closed by an indented ruler": "---\ntitle: x\n ---\nmemory: false\n---\nbody",
    "an indented ruler behind it": "---\nmemory: private\n ---\nbody",
    "not closed by one sign of dots": "---\ntitle: x\n…\nmemory: false\n---\nbody",
    "not closed by wide dashes": "---\ntitle: x\n－－－\nmemory: false\n---\nbody",
    "behind an empty block": "---\n---\nmemory: false\n---\nbody",
    "behind dots that close nothing": "---\n...\nmemory: false",
    "ideographic space before": "\u3000---\nmemory: false\n---\nbody",
    "no-break space before": "\xa0\n\xa0---\nmemory: false\n---\nbody",
    "vertical tab before": "\x0b---\nmemory: false\n---\nbody",
    "form feed before": "\x0c---\nmemory: false\n---\nbody",
    "invisible before": "\u200b\u200d\u2060\u00ad\u200e---\nmemory: false\n---\nbody",
    "control before": "\x01\x7f---\nmemory: false\n---\nbody",
    "filler before": "\u3164---\nmemory: false\n---\nbody",
    "invisible in the ruler": "-\u200b--\nmemory: false\n---\nbody",
    "wide dashes": "－－－\nmemory: false\n－－－\nbody",
    "one long dash": "—\nmemory: false\n—\nbody",
    "anchor at the key": "---\n&a memory: false\n---\nbody",
    "tag at the key": "---\n!!str memory: false\n---\nbody",
    "anchor at the value": "---\ntool:\n  memory: &a false\n---\nbody",
    "long tag": "---\ntool:\n  memory: !<tag:yaml.org,2002:bool> false\n---\nbody",
    "alias as the value": "---\na: &a false\ntool:\n  memory: *a\n---\nbody",
    "alias as the key": "---\na: &a memory\n*a : false\n---\nbody",
    "escaped key beside an anchor": '---\na: &a 1\n"mem\\u006fry": false\n---\nbody',
    "named language": "---yaml\nmemory: false\n---\nbody",
    "value on the line of the ruler": "---{memory: false}\n---\nbody",
    "semicolon": "---\nmemory: false;\n---\nbody",
    "semicolon, nested": "---\ntool:\n  memory: false;\n---\nbody",
    "comment of another language": "---\nmemory: false // do not index\n---\nbody",
    "comment of another language, nested": "---\ntool:\n  memory: false // do not index\n---\nbody",
    "typographic quotes": "---\n“memory”: “false”\n---\nbody",
    "unclosed, a word": "---\nmemory: private\n\nbody",
    "unclosed, words": "---\nmemory: keep this out\n\nbody",
    "unclosed, comment of another language": "---\nmemory: false // x\nbody",
    "unclosed, on the next line": "---\nmemory:\n  false\nbody",
    "nested, below a comment": "---\ntool: [\n  memory: # now\n    false\n---\nbody",
    "unclosed, explicit key": "---\n? memory\n: false\nbody",
    "wide letters": "---\nｍｅｍｏｒｙ: false\n---\nbody",
    "wide value": "---\ntool:\n  memory: ｆａｌｓｅ\n---\nbody",
    "invisible in the key": "---\nmem\u200bory: false\n---\nbody",
    "invisible before the key": "---\n\u200bmemory: false\n---\nbody",
    "invisible in the value": "---\ntool:\n  memory: fal\u00adse\n---\nbody",
    "line separator": "---\u2028memory: false\u2028---\u2028body",
    "next line": "---\x85memory: false\x85---\x85body",
    "line separator inside": "---\ntitle: x\u2028memory: false\n---\nbody",
    "ruler behind a line separator": "---\ntitle: x\u2028---\u2028memory: false\n---\nbody",
    "cr, a word": "---\rmemory: private\r---\rbody",
    "toml": '+++\ntitle = "x"\nmemory = false\n+++\nbody',
    "toml, a word": '+++\nmemory = "private"\n+++\nbody',
    "toml, in a table": "+++\n[params]\nmemory = false # mine\n+++\nbody",
    "toml, dotted": "+++\nparams.memory = false\n+++\nbody",
    "toml, unclosed": "+++\nmemory = false\nbody",
    "toml, behind a blank line": "\ufeff\n+++\r\nmemory = false\r\n+++\r\nbody",
    "json": '{\n  "title": "x",\n  "memory": false\n}\n\nbody',
    "json in one line": '{"title": "x", "memory": false}\nbody',
    "json, deep": '{"tool": {"memory": "no"}}\nbody',
    "json, a word": '{\n\t"memory": "private"\n}\nbody',
    "json, null": '{"memory": null}\nbody',
    "json, escaped": '{"mem\\u006fry": false}\nbody',
    "json, broken": '{\n  title: "x",\n  "memory": false,\n}\n\nbody',
    "json, unclosed": '{\n  "memory": false\n\nbody',
    "json, twice": '{"memory": false, "memory": true}\nbody',
    "behind a directive": "%YAML 1.2\n---\nmemory: false\n---\nbody",
    "behind directives, a word": "%YAML 1.2\n%TAG ! tag:x,2000:\n---\nmemory: private\n---\nbody",
    "behind a comment": "# mine alone\n---\nmemory: false\n---\nbody",
    "behind a comment and a gap": "# mine alone\n\n---\ntitle: x\nmemory: off\n---\nbody",
    "behind a comment of a page": "<!-- mine\nalone -->\n---\nmemory: false\n---\nbody",
    "json behind a comment": '<!-- mine -->{"memory": false}\nbody',
    "twice in a broken flow": "---\n{title: [x, memory: true, memory: false\n---\nbody",
}
PUBLIC = {
    "no block": "# Title\n\nbody",
    "empty": "",
    "true": "---\nmemory: true\n---\nbody",
    "yes": "---\nmemory: Yes # please\n---\nbody",
    "quoted true": "---\nmemory: 'true'\n---\nbody",
    "other keys": "---\nin-memory: false\nmemory_limit: 0\nshare: false\n---\nbody",
    "commented out": "---\n# memory: false\ntitle: x\n---\nbody",
    "in the body below a block": "---\ntitle: x\n---\n\nmemory: false\n",
    "in the body": "# How to\n\nmemory: false\n\n---\nmemory: false\n---\n",
    "in a fence": "```\n---\nmemory: false\n---\n```\n",
    "in a quoted title": '---\ntitle: "what memory: false means"\n---\nbody',
    "in a sentence below an unclosed ruler": "---\n\nSaying memory: false hides it.\nMemory: what a word.\n",
    "below a heading and paragraphs": "# T\n\nSome words.\n\nmemory: false\n\nMore.\n\nmemory: private\n",
    "below a paragraph": "Some words.\n---\nmemory: false\n---\n",
    "below a ruler of other dashes": "- - -\n\nmemory: false\n",
    "a sentence below a ruler and a heading": "---\n\n# Machine\n\nMemory: 16 GB of it.\n",
    "below a block with dots": "---\ntitle: x\n...\n\nmemory: false\n",
    "nested, another word": "---\ntool:\n  memory: 16 GB\n---\nbody",
    "toml, true": "+++\nmemory = true\n+++\nbody\n\nmemory = false\n",
    "toml, deep, another word": '+++\n[params]\n  memory = "16 GB"\nserver.memory = "8 GB"\n+++\nbody',
    "json, true": '{"memory": true}\nbody\n\n"memory": false\n',
    "json, deep, another word": '{"limits": {"memory": "16 GB"}}\nbody',
    "a template": "{{ title }}\n\nmemory: false\n",
    "a brace": "{title}\n\nmemory: false\n",
    "a ruler below a heading": "# Title\n\n---\n\nMemory: a word.\n\nmemory: false\n",
    "below a title of another program": "% Title\n---\nmemory: false\n",
    "three dashes in a line": "---x\nmemory: false\n---\nbody",
}


@pytest.mark.parametrize("text", PRIVATE.values(), ids=PRIVATE)
def test_false_in_front_matter_makes_note_private(text: str) -> None:
    assert is_private(text)


@pytest.mark.parametrize("text", PUBLIC.values(), ids=PUBLIC)
def test_note_without_false_is_public(text: str) -> None:
    assert not is_private(text)


@given(st.text("-:[]{}&*!ab \n\t\"'#?,", max_size=60), st.text("-:[]{}&*!ab \n\t\"'#?,.", max_size=60))
def test_errors_around_the_line_keep_note_private(before: str, after: str) -> None:
    block = re.sub(r"(?m)^[-\t ]*-", "", f"{before}\n")
    assert is_private(f"---\n{block}memory: false\n{after}\n---\nbody")


@given(st.text("-:[]{}&*!my \n\t\"'#?,.", max_size=200))
def test_text_below_the_line_changes_nothing(text: str) -> None:
    assert is_private(f"---\nmemory: false\n{text}")
    assert not is_private(f"x{text}\nmemory: false\n")


@pytest.mark.sweep
@pytest.mark.parametrize("piece", ["&[ ", ",memory:", "memory\n", "[- ", "---\n", "'", "\u200b", "!a ", "memory: x,"])
def test_long_front_matter_is_parsed_in_bounded_time(piece: str) -> None:
    with soon():
        is_private("---\ntitle: x\n" + piece * (whole_or(2**18, 2**20) // len(piece)))
