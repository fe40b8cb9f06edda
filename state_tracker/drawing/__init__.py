"""Draw calls, the state they use, and its translation to pipe state."""
