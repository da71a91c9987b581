"""Models of images with published weights."""
