"""Files of any size are judged in two passes: one measures all folds, one scores the rows."""
