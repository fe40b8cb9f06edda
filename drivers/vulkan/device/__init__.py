"""The Vulkan instance and device: what was found, what it can do, what is enabled."""
