"""What can be known about a function without changing it."""
