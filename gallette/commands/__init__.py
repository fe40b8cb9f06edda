"""The commands, one module each: `run(options) -> exit status`; `commands.txt` declares them."""
