"""How the documentation site is built: ``make docs`` writes it into out/site, without network."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import naively

sys.path.insert(0, str(Path(__file__).parent))  # for extensions of our own
from naively.families import FAMILIES

project = "naively"
author = "The naively developers"
copyright = f"{date.today().year}, {author}"  # noqa: A001
version = release = naively.__version__

extensions = [
    "command_reference",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
]
autosummary_context = {
    "homes": {family.__name__: family.__module__ for family in FAMILIES.values()}
}
# The first suffix is that of the pages which autosummary writes.
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
templates_path = ["_templates"]

autodoc_typehints = "none"  # numpydoc's parameters say more
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "show_memory": False,
    "subsection_order": [
        f"../examples/gallery/{part}" for part in ("models", "evaluation", "data")
    ],
    "within_subsection_order": "ExampleTitleSortKey",
    "min_reported_time": 5,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "doc_module": ("naively",),  # pages of the API show the examples that use a name
    "backreferences_dir": "api/examples",
}

html_theme = "pydata_sphinx_theme"
html_title = "naively"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_theme_options = {"navigation_with_keys": False, "show_toc_level": 2}
