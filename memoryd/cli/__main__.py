"""The first step of memoryctl: its version and its help need nothing of what commands import."""

import gc
import sys

from memoryd import __version__


def main() -> None:
    """Tell the version or the overview, or run the command line."""
    if sys.argv[1:] in (["--version"], ["--help"], ["-h"]) and sys.stdout is not None:
        try:
            if sys.argv[1] == "--version":
                told = f"memoryctl {__version__}"
            else:
                from memoryd.cli.overview import page

                told = page()
            print(told, flush=True)  # noqa: T201
            return
        except OSError:
            pass  # told below, as for every command
    # what is imported stays; to look through it for garbage again and again takes as long as a question
    gc.set_threshold(20_000)
    # here: what it imports takes four times as long as Python itself
    from memoryd.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
