"""How memories are used: touches, tiers, and what age and use make of their place.

Opinions at work: how they stand, and what moves them.
"""
