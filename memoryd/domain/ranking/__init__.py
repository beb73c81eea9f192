"""From a question and evidence to an order: fusion, thresholds, selection, snippets."""
