"""The validator and its errors."""
