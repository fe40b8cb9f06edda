"""Textures: formats, targets, images, parameters, samplers, mipmaps."""
