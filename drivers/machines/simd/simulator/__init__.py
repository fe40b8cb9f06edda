"""The simulator: many threads at once, one Python step per instruction."""
