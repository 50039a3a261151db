"""Columns of text: where they lie in memory, their tokens, and vocabularies."""
