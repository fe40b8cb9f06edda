"""The compiler: NIR to instructions, register allocation, and an order with delays filled."""
