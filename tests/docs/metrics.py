"""`reference/metrics.md`: every metric with its kind, labels and meaning."""

from typing import Final

from memoryd.api.metrics import METRICS
from tests.docs.tables import table

HEAD: Final = """# Metrics

`GET /metrics` returns these in the format of Prometheus, on the owner's socket and, with the token, on the loopback
port: [how to scrape them](../how-to/monitoring.md). Agents that share a workspace have the same figures, so do not add
them up. Counters begin at 0 when the daemon starts, and continue after a reload. Only the restarts of a model or of
qmd that a reload replaces begin again, and processor time begins with each process.

"""


def page() -> str:
    """Return the page."""
    rows = [
        (f"`{metric.name}`", metric.kind.value, ", ".join(f"`{label}`" for label in metric.labels), metric.help)
        for metric in METRICS
    ]
    return HEAD + table(("metric", "kind", "labels", "what it says"), rows)
