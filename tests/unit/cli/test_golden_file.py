"""Reading the file of golden questions, which other programs may have replaced."""

import os
from pathlib import Path
from typing import cast

import pytest

from memoryd.cli.golden import GOLDEN_FILE, golden_text
from memoryd.errors import InvalidRequest
from memoryd.replies.status import AgentStatus


@pytest.fixture
def agent(tmp_path: Path) -> AgentStatus:
    (tmp_path / GOLDEN_FILE).parent.mkdir()
    return cast(AgentStatus, {"workspace": str(tmp_path)})


def test_file_is_read_and_a_missing_one_is_empty(agent: AgentStatus, tmp_path: Path) -> None:
    assert golden_text(agent) == ""
    (tmp_path / GOLDEN_FILE).write_text("// 还没有\n")
    assert golden_text(agent) == "// 还没有\n"


@pytest.mark.parametrize("kind", ["a pipe", "a folder"])
def test_pipe_or_folder_is_refused_without_blocking(agent: AgentStatus, tmp_path: Path, kind: str) -> None:
    path = tmp_path / GOLDEN_FILE
    os.mkfifo(path) if kind == "a pipe" else path.mkdir()
    with pytest.raises(InvalidRequest, match="is no regular file"):
        golden_text(agent)


def test_symbolic_link_is_refused(agent: AgentStatus, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.jsonl").write_text("// mine\n")
    (tmp_path / GOLDEN_FILE).symlink_to(tmp_path / "elsewhere.jsonl")
    with pytest.raises(InvalidRequest, match="is a symbolic link") as refused:
        golden_text(agent)
    assert refused.value.hint == "put the file itself there"
