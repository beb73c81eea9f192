"""The alerts of the examples ask for metrics that there are, with labels that these have."""

import re
from pathlib import Path

import yaml

from memoryd.api.metrics import METRICS

RULES = Path(__file__).parents[2] / "examples" / "memoryd.rules.yml"
KNOWN = {one.name for one in METRICS} | {"memoryd_request_duration_seconds_bucket"}
LABELS = {label for one in METRICS for label in one.labels}


def test_alerts_ask_for_metrics_that_there_are() -> None:
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    asked = {name for rule in rules for name in re.findall(r"memoryd_\w+", rule["expr"])}
    assert len(asked) > 4
    assert asked <= KNOWN
    named = {label for rule in rules for label in re.findall(r"\$labels\.(\w+)", str(rule["annotations"]))}
    assert named
    assert named <= LABELS
