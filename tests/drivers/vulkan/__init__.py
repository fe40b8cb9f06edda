"""The driver `vulkan`, on whatever Vulkan device the machine has: lavapipe in CI."""
