"""A read in Spark: which files its own scan reads, with which masks, and which we read."""
