"""The daemon: what runs, in which order, and how it ends."""

import os

# Before anything imports numpy: its matrix threads spin on cores that the worker and the person need; one is faster.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# before anything else imports structlog: it has that start without what the daemon does not use
from memoryd import log as log
