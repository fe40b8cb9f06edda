"""What all programs have in common: sizes, units, the marks of two contexts."""

SIZE = 37
"""edge of pictures; no power of two: then places in the window are rounded, and it shows how"""
EDGE = 8
"""texels of a texture along each axis"""
UNITS = 3
"""texture units that programs use"""
FEWEST_DRAWS = 10
"""of a program"""
MARKS = ("A: ", "B: ")
"""before each line that runs on the first or the second of two contexts"""
