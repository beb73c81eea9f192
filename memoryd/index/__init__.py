"""The loops that keep an index equal to a disk, and give its passages vectors."""
