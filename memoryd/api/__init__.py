"""The HTTP API: the table of calls, who may make them, and the app that serves them."""
