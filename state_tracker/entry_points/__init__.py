"""The table of GL functions and its readers: methods, C pointers both ways, errors, enums."""
