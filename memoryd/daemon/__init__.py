"""The daemon: its parts, the order of their start, and its shutdown."""

import os

# before numpy is imported: its matrix threads busy-wait on cores that the worker and the user need; one thread is
# faster
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# before structlog is imported elsewhere: this module loads it without the parts that the daemon does not use
from memoryd import log as log
