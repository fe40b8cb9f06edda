"""IR as text and bytes, and back."""
