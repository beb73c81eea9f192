"""Backup and restore, and moving a workspace. Restoring and moving require that no daemon is running."""
