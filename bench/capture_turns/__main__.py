"""Print how well capture does without a model: `python -m bench.capture_turns`."""

import sys

from bench.capture_turns.scoring import page

if __name__ == "__main__":
    sys.stdout.write(page())
