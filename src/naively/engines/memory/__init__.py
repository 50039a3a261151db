"""Arrays and data frames in memory, read in place."""
