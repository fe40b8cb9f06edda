"""The compiler: NIR to instructions, registers, and an order with delays filled."""
