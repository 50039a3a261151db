"""Scoring: fitted models on rows wherever they are, and models for other machines."""
