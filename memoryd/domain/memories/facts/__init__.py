"""What a plain statement is made of: the slot that it fills, its values, and whether it is about something past."""
