"""A syntax tree to a checked one: names, types, conversions, layouts, constants."""
