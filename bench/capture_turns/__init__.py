"""Measures capture over labelled conversations."""
