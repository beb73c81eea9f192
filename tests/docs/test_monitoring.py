"""The example alerts use existing metrics and labels."""

import re
from pathlib import Path

import yaml

from memoryd.api.metrics import METRICS

RULES = Path(__file__).parents[2] / "examples" / "memoryd.rules.yml"
KNOWN = {metric.name for metric in METRICS} | {"memoryd_request_duration_seconds_bucket"}
LABELS = {label for metric in METRICS for label in metric.labels}


def test_alerts_use_existing_metrics_and_labels() -> None:
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    asked = {name for rule in rules for name in re.findall(r"memoryd_\w+", rule["expr"])}
    assert len(asked) > 4
    assert asked <= KNOWN
    named = {label for rule in rules for label in re.findall(r"\$labels\.(\w+)", str(rule["annotations"]))}
    assert named
    assert named <= LABELS
