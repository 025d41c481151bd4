"""Types, names, defaults and texts of values: Spark's and ours."""
