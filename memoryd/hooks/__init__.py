"""Hooks that agent programs run at their events: each sends a request to the daemon, within a second.

Every import here delays each prompt of a person, so there are few, and no dataclass. This package exports nothing.
"""
