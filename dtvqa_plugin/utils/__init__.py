"""Tools that any room may use: the environment, files, text for people, images.

Each public module is one tool; nothing is imported here (some need numpy or Pillow).
"""

__all__ = [
    "checkout",
    "encoding",
    "environment",
    "files",
    "http",
    "images",
    "json_list",
    "progress",
    "scripts",
    "text",
]
