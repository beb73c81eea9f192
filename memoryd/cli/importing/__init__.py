"""Import of data of other programs: the table of sources, their formats, and the lines that all of them become."""
