"""The server of the Model Context Protocol, which offers the memory to agent programs over stdio.

It is an ordinary client of the daemon, and only needs the path of its socket.
"""
