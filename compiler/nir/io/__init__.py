"""What accesses to variables become: slots, memory and units. `passes/io/lower_io.py` uses them."""
