"""The JSON5 configuration file: its models and defaults, loading, and the paths of all files.

This package exports nothing, so that the command line can import `memoryd.config.paths` without pydantic.
"""

import os

# before pydantic builds its first model: else it scans every installed package for plugins
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
