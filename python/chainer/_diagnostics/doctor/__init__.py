"""Observes a training while it runs, and reports its faults."""
