"""Reaching the connections of a database, for what no verb does."""

from memoryd.store.connection_pool import ConnectionPool
from memoryd.store.database import Database


def raw(database: Database) -> ConnectionPool:
    """Return what runs functions of a connection."""
    return database._pool
