"""The simulator: all channels of a launch at once, one Python step per instruction."""
