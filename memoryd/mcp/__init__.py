"""The server of the Model Context Protocol: the memory for the programs of agents, over stdio.

It is a client of the daemon like any other, and knows nothing but its socket.
"""
