"""Pipelines and what they are made of: layouts, descriptors, samplers, views, fixed function."""
