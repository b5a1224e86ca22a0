"""Why runs fail: outcomes of questions, scores against density, difficulty over runs.

Each public module is one of these; nothing is imported here.
"""

__all__ = [
    "conditions",
    "curves",
    "density",
    "diagnosis",
    "difficulty",
    "folding",
    "outcomes",
    "placing",
]
