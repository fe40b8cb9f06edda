"""NIR to instructions: selection, live ranges, allocation, scheduling."""
