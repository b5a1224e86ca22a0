"""Why runs fail: outcomes of questions, scores against density, difficulty over runs."""
