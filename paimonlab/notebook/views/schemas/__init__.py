"""What each schema changed."""
