"""IR as text and as bytes."""
