"""The local store of annotations and images."""
