"""Draw calls, the state around them, and its way into the pipe."""
