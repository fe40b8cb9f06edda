"""Raster position, pixel rectangles and transfer, accumulation, selection and feedback."""
