"""Runs read back from what hosts and runners left."""
