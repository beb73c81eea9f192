"""memoryctl completion: the scripts for shells, and that bash completes with them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memoryd.cli.main import run
from memoryd.wire import Exit

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_is_printed(shell: str, capsys: Captured) -> None:
    assert run(["completion", shell]) == Exit.DONE
    script = capsys.readouterr().out
    assert f"{shell}_complete" in script
    assert run(["completion", shell, "--json"]) == Exit.DONE
    assert json.loads(capsys.readouterr().out) == {"shell": shell, "script": script}


def test_bash_completes_with_the_script(tmp_path: Path, capsys: Captured) -> None:
    program = tmp_path / "bin" / "memoryctl"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'from memoryd.cli.main import main; main()' \"$@\"\n")
    program.chmod(0o755)
    assert run(["completion", "bash"]) == Exit.DONE
    script = capsys.readouterr().out
    asked = (
        f"{script}\nCOMP_WORDS=(memoryctl config s); COMP_CWORD=2\n"
        '_memoryctl_completion memoryctl\necho "${COMPREPLY[@]}"'
    )
    environment = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", asked], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["schema", "show"]
