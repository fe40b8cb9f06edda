"""Drivers: each a room of its own, found through the entry-point group `gallette.drivers`."""
