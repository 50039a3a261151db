"""What a table is, wherever it lies: columns, labels, rows, text; no statistics, no models."""
