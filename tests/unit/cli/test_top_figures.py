"""`memoryctl top` computes rates between two scrapes of the metrics."""

from memoryd.cli.memory.top import metrics_of, row_between

BEFORE = """
# TYPE memoryd_uptime_seconds gauge
memoryd_uptime_seconds 100.0
# TYPE memoryd_requests counter
memoryd_requests_total{code="2xx",method="POST",route="/v1/search"} 10.0
memoryd_requests_total{code="5xx",method="POST",route="/v1/search"} 1.0
# TYPE memoryd_process_cpu_seconds counter
memoryd_process_cpu_seconds_total{agent="",process="daemon"} 5.0
# TYPE memoryd_process_resident_memory_bytes gauge
memoryd_process_resident_memory_bytes{agent="",process="daemon"} 1000.0
# TYPE memoryd_arm_duration_seconds histogram
memoryd_arm_duration_seconds_bucket{arm="lexical",le="0.001"} 10.0
memoryd_arm_duration_seconds_bucket{arm="lexical",le="+Inf"} 10.0
"""
AFTER = (
    BEFORE.replace("100.0", "102.0")
    .replace('search"} 10.0', 'search"} 30.0')
    .replace("} 5.0", "} 6.0")
    .replace('le="+Inf"} 10.0', 'le="+Inf"} 14.0')
    .replace('le="0.001"} 10.0', 'le="0.001"} 14.0')
)


def test_rates_are_per_second_of_the_interval() -> None:
    found = row_between(metrics_of(BEFORE, 0.0), metrics_of(AFTER, 2.0))
    assert (found["requestsPerSecond"], found["failedPerSecond"]) == (10.0, 0.0)
    assert found["processes"][0]["cpuPercent"] == 50.0
    assert found["arms"] == [{"name": "lexical", "perSecond": 2.0, "p50Ms": 0.5, "p95Ms": 0.95}]
    assert not found["restarted"]


def test_restart_counts_from_zero() -> None:
    found = row_between(metrics_of(AFTER, 0.0), metrics_of(BEFORE.replace("100.0", "4.0"), 10.0))
    assert found["restarted"]
    assert found["seconds"] == 4.0
    assert found["requestsPerSecond"] == 2.75
    assert found["processes"][0]["cpuPercent"] is None


def test_counter_reset_gives_no_negative_rate() -> None:
    smaller = AFTER.replace('search"} 30.0', 'search"} 3.0')
    found = row_between(metrics_of(BEFORE, 0.0), metrics_of(smaller, 1.0))
    assert found["requestsPerSecond"] == 3.0
