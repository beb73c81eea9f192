"""`reference/metrics.md`: every metric with its kind, labels and meaning."""

from typing import Final

from memoryd.api.metrics import METRICS
from tests.docs.tables import table

HEAD: Final = """# Metrics

`GET /metrics` tells these to Prometheus, on the owner's socket, and on the loopback port with its token;
[how to scrape them](../how-to/monitoring.md). Figures of agents carry the agent's id as a label: agents that share a
workspace have the same, so that they are not to be added up. Counters begin anew with the daemon, and
go on where it reads its configuration again; but restarts of models and of qmd begin anew where a reload replaces
these, and processor time with each process. No label holds a path or a word of the memory.

"""


def page() -> str:
    """Return the page."""
    rows = [
        (f"`{metric.name}`", metric.kind.value, ", ".join(f"`{label}`" for label in metric.labels), metric.help)
        for metric in METRICS
    ]
    return HEAD + table(("metric", "kind", "labels", "what it says"), rows)
