"""Touching files safely."""
