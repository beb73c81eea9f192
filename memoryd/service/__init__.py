"""memoryd as a service of one user: unit files, property lists, and the service managers that run them."""
