"""The HTTP API: the table of calls, their access rules, and the app that serves them."""
