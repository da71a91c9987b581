"""Helpers of functions and links that users' own functions and links need too."""
