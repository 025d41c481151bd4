"""What can be typed next."""
