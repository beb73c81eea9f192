"""How memories are used: touches, tiers, and what age and use make of their place."""
