"""Entry point of memoryctl. It prints the version and the overview without importing the commands."""

import gc
import sys

from memoryd import __version__


def main() -> None:
    """Print the version or the overview, or run the command line."""
    if sys.argv[1:] in (["--version"], ["--help"], ["-h"]) and sys.stdout is not None:
        try:
            if sys.argv[1] == "--version":
                text = f"memoryctl {__version__}"
            else:
                from memoryd.cli.overview import page

                text = page()
            print(text, flush=True)  # noqa: T201
            return
        except OSError:
            pass  # reported below, as for every command
    # imported modules stay in memory: collecting them again and again takes as long as a question
    gc.set_threshold(20_000)
    # imported here: it takes four times as long to start as Python itself
    from memoryd.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
