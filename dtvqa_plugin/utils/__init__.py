"""Tools that any room may use: the environment, files, text for people, images."""
