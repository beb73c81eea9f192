"""Times as people write them, in English, German and Chinese, as spans of days."""
