"""What a plain statement is made of: the slot that it fills, its values, and whether it tells of something past."""
