"""The numpipe driver."""
