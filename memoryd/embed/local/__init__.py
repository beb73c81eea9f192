"""llama.cpp in a child process: frames on a pipe, the worker's life, and the program it runs."""
