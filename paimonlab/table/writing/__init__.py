"""Writing rows of a table and replacing partitions, up to the commit and what follows it."""
