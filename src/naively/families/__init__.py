"""Families: one distribution each, its formula and the parameters read off a statistic."""
