"""Passes from interface variables to slots, offsets and units."""
