"""The trace driver."""
