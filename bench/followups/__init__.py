"""How well the turns that a follow-up question needs are found: sequences beside single turns."""
