"""Fit naively's GaussianNB and scikit-learn's on two tables, and compare them.

Run it with ``make demo``.
"""

from statistics import median
from time import perf_counter

from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from naively import GaussianNB

HEADER = f"{'table':<14}{'rows':>6}{'columns':>9}{'train':>9}{'test':>9}{'agreement':>11}"
HEADER += f"{'fit':>10}{'sklearn':>10}{'ratio':>8}"


def microseconds(work, repeats=200):
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return 1e6 * median(times)


def compare(name, load):
    X, y = load(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, random_state=42, stratify=y
    )
    ours = GaussianNB().fit(X_train, y_train)
    theirs = SklearnGaussianNB().fit(X_train, y_train)
    train, test = ours.accuracy(X_train, y_train), ours.accuracy(X_test, y_test)
    agreement = (ours.predict(X) == theirs.predict(X)).mean()
    fast = microseconds(lambda: GaussianNB().fit(X_train, y_train))
    slow = microseconds(lambda: SklearnGaussianNB().fit(X_train, y_train))
    print(
        f"{name:<14}{X.shape[0]:>6}{X.shape[1]:>9}{train:>9.4f}{test:>9.4f}{agreement:>11.4f}"
        f"{fast:>7.0f} µs{slow:>7.0f} µs{slow / fast:>7.1f}x"
    )


print(HEADER)
print("-" * len(HEADER))
compare("Iris", load_iris)
compare("Breast Cancer", load_breast_cancer)
