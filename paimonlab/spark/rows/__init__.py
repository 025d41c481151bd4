"""DELETE, UPDATE and MERGE INTO: what Spark resolved is run as jobs of ours."""
