"""The Student Performance figure of a published study: 0.77 on a test split of 20 %.

The public 'Students Performance' table (2,392 rows, target GradeClass) is a third party's and is
not shipped. Give its path:

    python examples/student_performance.py students_performance.csv
"""

import sys

import numpy as np
from pyarrow import csv
from sklearn.model_selection import train_test_split

from naively import GaussianNB

if len(sys.argv) != 2:
    sys.exit(__doc__)

table = csv.read_csv(sys.argv[1])
y = table["GradeClass"].to_numpy()


def mean_accuracy(columns, splits=200):
    X = table.select(columns)
    scores = []
    for seed in range(splits):
        train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed)
        model = GaussianNB().fit(X.take(train), y[train])
        scores.append(model.accuracy(X.take(test), y[test]))
    return np.mean(scores), np.std(scores)


columns = [name for name in table.column_names if name not in ("StudentID", "GradeClass")]
without = [name for name in columns if name != "GPA"]
print("published, one split:               0.77")
print("200 splits, all columns:            {:.2f} ± {:.2f}".format(*mean_accuracy(columns)))
print("200 splits, without GPA:            {:.2f} ± {:.2f}".format(*mean_accuracy(without)))
