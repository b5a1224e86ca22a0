"""Statistics and findings over runs."""
