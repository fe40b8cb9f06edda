"""The Vulkan instance and device, with their features and extensions."""
