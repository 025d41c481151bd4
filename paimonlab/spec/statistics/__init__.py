"""Statistics: of the columns of a file, how much of them is kept, and of a whole table."""
