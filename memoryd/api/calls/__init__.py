"""The calls of the API, a module for each noun: request, handler, reply."""
