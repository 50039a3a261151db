"""Install the newest wheel of a folder into a fresh environment, outside the tree, and use it.

python tests/wheel.py dist [--sdist]
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

USE = """
import naively
from naively import GaussianNB
model = GaussianNB().fit([[0.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
assert model.predict([[7.5]]).tolist() == ["high"]
assert abs(model.predict_proba([[7.5]]).sum() - 1) < 1e-15
assert "site-packages" in naively.__file__, naively.__file__
print("naively", naively.__version__, "works:", naively.__file__)
"""


def main(folder, kind="--wheel"):
    files = Path(folder).glob("naively-*.whl" if kind == "--wheel" else "naively-*.tar.gz")
    wheel = max(files, key=lambda path: path.stat().st_mtime).resolve()
    if kind == "--wheel":
        assert "manylinux" in wheel.name, f"{wheel.name} runs on machines like this one alone"
    with tempfile.TemporaryDirectory() as fresh:
        venv.create(fresh, with_pip=True)
        python = Path(fresh, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
        subprocess.run([python, "-c", USE], check=True, cwd=fresh)
    print(wheel)


if __name__ == "__main__":
    main(*sys.argv[1:])
