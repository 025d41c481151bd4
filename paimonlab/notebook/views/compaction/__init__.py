"""What compactions did and cost, and what would be compacted now."""
