"""The parts of a plain statement: the slot that it fills, its values, and whether it is about something past."""
