"""llama.cpp in a child process: the wire format, the worker process, and the worker program."""
