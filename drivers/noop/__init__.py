"""The noop driver."""
