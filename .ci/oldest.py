"""Prints the oldest allowed version of each requirement of gallette and jit."""

import re
import sys
import tomllib

with open(sys.argv[1], "rb") as file:
    project = tomllib.load(file)["project"]
for need in [*project["dependencies"], *project["optional-dependencies"]["jit"]]:
    name, least = re.match(r"([\w-]+)(?:\[.*?\])?>=([\d.]+)", need).groups()
    print(f"{name}=={least}")
