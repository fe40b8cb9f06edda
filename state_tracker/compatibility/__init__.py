"""The compatibility profile: matrices, lights, immediate mode, fixed function."""
