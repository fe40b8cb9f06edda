"""From selected instructions to code: registers, order, and what is left out."""
