"""The replies of the API, declared once: the daemon fills them, OpenAPI describes them, clients read them.

They are plain dicts with camelCase keys; a later daemon may add keys. Times are RFC 3339. The docstring below a key is
its description in OpenAPI and on the reference page.
"""
