"""Pixel transfers between client memory and the device, both ways, and copies within the device."""
