"""Threads that run together, their launches, and the shared units that execute their messages."""
