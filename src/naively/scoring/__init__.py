"""Scoring: fitted models on rows wherever they are, one module for each kind of place."""
