"""Measure capture by the real daemon, and write the table of its page: `python -m bench.capture_turns`."""

import sys

from bench.capture_turns.page import measured, update

if __name__ == "__main__":
    table = measured()
    update(table)
    sys.stdout.write(table)
