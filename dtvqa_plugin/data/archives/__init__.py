"""Folders and archives as sources of images."""
