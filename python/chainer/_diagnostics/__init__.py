"""What explains: missing gradients and names, versions, numerical gradients."""
