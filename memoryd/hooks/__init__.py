"""What agent programs run at their events: each asks the daemon or tells it, within a second.

Imports of this room count against every prompt of a person, so it has few of them, and no dataclass. Exports nothing.
"""
