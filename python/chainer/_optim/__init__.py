"""Optimizers and their update rules."""
