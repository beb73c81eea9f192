"""What `make bench` measures: the real daemon on synthetic notes. Figures to compare, never a test."""
