"""The service of a user: unit files and property lists, and the managers that run them."""
