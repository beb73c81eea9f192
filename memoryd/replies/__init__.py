"""The types of all replies of the API, for the daemon, the OpenAPI document and clients.

Replies are dicts with camelCase keys; later versions may add keys. Times are in RFC 3339. The docstring below a key is
its description in OpenAPI and on the reference page.
"""
