"""What each commit did."""
