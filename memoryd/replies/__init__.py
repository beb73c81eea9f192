"""Shapes of the daemon's replies as decoded: plain dicts with camelCase keys; a later daemon may add keys.

Each is the twin of the API's model of the same name, so that a client needs neither pydantic nor the daemon's code; a
test compares the two. Times are ISO 8601.
"""
