"""Opinions at work: how they stand, and what moves them."""
