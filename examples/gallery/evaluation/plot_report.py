"""
A report of a table
===================

`report` writes one HTML page about a table and its model: the columns, the classes, the quality of
the model, and an explorer that answers rows in the browser. ``save`` writes it to a file; a
notebook shows it, as this page does.
"""

# sphinx_gallery_thumbnail_path = "images/report.png"

from sklearn.datasets import load_iris

from naively import report

iris = load_iris(as_frame=True)
report(data=iris.data, y=iris.target_names[iris.target], compare=False)
