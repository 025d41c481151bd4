"""What a snapshot refers to."""
