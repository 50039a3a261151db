"""Estimators: scikit-learn's face on a `Summary`."""
