"""How large pictures are."""

SIZE = 37
"""No power of two: then places in the window are rounded, and it shows how."""
