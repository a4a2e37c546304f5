"""Two baselines for keju that answer from a text and look at no image."""
