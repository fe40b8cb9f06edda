"""What two stages can learn from each other."""
