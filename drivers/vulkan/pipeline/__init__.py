"""Pipelines and their parts: layouts, descriptors, samplers, views, fixed function."""
