"""Transport: sockets, the loopback port, limits, and the gate that a reload closes."""
