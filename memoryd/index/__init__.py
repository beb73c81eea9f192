"""Indexing: loops that keep an index equal to the disk, and embed its passages."""
