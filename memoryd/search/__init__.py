"""Search: from a query to ranked, checked and cited hits."""
