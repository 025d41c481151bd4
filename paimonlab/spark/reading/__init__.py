"""A read in Spark: files for Spark's own scan, their masks, and the splits that we read ourselves."""
