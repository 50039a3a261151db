"""
Where assumptions fail
======================

`diagnose` looks for families that do not fit, columns that depend on each other, identifiers,
leaks and rare classes. It reads the model's summary, not the data.
"""

from sklearn.datasets import load_breast_cancer

from naively import GaussianNB, diagnose
from naively.plots import FitDisplay

table = load_breast_cancer(as_frame=True)
diagnosis = table.target_names[table.target]
model = GaussianNB(calibration="temperature").fit(table.data, diagnosis)
found = diagnose(model)
for finding in found.findings[:5]:
    print(f"{finding.severity}: {finding.kind} of {', '.join(finding.columns[:3])}")

# %%
# Each cell is replaced by its probability under the fitted curve. Where the family fits, all bars
# are as high as the line. Here are the columns that fit worst.
FitDisplay.from_diagnosis(found, max_panels=4)
