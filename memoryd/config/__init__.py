"""The JSON5 file: models with their defaults, loading, and where things lie on disk.

Exports nothing, so that the command line can import `memoryd.config.paths` without pydantic.
"""

import os

# before pydantic makes its first model: it would look through every package installed beside us for what extends it
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
