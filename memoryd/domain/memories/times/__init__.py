"""Parsing of times in English, German and Chinese texts into spans of days."""
