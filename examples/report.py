"""Draw the report of a model as a browser shows it.

    python examples/report.py [picture]

Breast Cancer, learned by `NaiveBayes`. It needs Chromium on the path.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from sklearn.datasets import load_breast_cancer

from naively import NaiveBayes, report

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]


def main(picture: str = "report.png") -> None:
    """Write the page, take a picture of its top, and keep 256 colours of it."""
    table = load_breast_cancer(as_frame=True)
    page = report(NaiveBayes(), table.data, table.target_names[table.target])
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("There is no Chromium here: apt-get install chromium.")
    with TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        page.save(path)
        shot = Path(folder, "report.png")
        size = ["--window-size=1200,1000", f"--user-data-dir={folder}/profile"]
        command = [browser, *FLAGS, *size, f"--screenshot={shot}", path.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
        Image.open(shot).convert("RGB").quantize(256).save(picture, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
