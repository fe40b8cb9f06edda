"""The table of GL functions and its users: methods, C pointers both ways, errors, enums."""
