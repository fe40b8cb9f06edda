"""Drivers: one package each, found through the entry-point group `gallette.drivers`."""
