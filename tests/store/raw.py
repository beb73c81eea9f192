"""Reaching the connections of a database, for what no verb does."""

from memoryd.store.index.database import Database
from memoryd.store.pool import ConnectionPool


def raw(database: Database) -> ConnectionPool:
    """Return what runs functions of a connection."""
    return database._pool
