"""Times as people write them, in English and Chinese, as spans of days."""
