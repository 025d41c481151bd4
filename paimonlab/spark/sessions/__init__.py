"""Sessions, servers and machines: starting them, connecting, looking at them."""
