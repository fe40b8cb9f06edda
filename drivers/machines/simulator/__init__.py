"""Threads that run together, launches of them, and the shared units their messages go to."""
