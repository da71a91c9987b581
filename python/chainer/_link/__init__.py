"""Links, and links of links."""
