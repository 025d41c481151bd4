"""What a check of all files found."""
