"""From selected instructions to code: register allocation, scheduling, removal of dead code."""
