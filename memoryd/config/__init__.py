"""The JSON5 file: models with their defaults, loading, and where things lie on disk.

Exports nothing, so that the command line can import `memoryd.config.paths` without pydantic.
"""
