"""Pixels between client memory and the device, both ways, and copies inside it."""
