"""Splits: what each holds and how it is read."""
