"""Print the lowest supported version of every dependency, as constraints of pip.

python tests/lowest.py > constraints.txt
"""

import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
USED = ("files", "plots", "onnx", "sql", "dask", "cli")  # what a user installs; tools may be new
FRAMES = ("pandas", "polars")  # whatever the user has


def lowest():
    extras = PROJECT["optional-dependencies"]
    frames = [line for line in extras["dev"] if line.startswith(FRAMES)]
    used = [line for extra in USED for line in extras[extra]]
    for line in [*PROJECT["dependencies"], *used, *frames]:
        found = re.fullmatch(r"([\w.-]+)(?:\[.*\])?>=([\d.]+)", line)
        if found and found[1] != "naively":
            yield f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    print("\n".join(sorted(set(lowest()))))
