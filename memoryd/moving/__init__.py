"""Backup and restore, and moving a workspace. Works only while no daemon changes the files."""
