"""Captures what turns say: a queue, the firewall around it, and the way into the daily log."""
