"""Adapters to the evaluation hosts: one package a host, neither knows the other.

Their public names are in the packages themselves; nothing is imported here.
"""

__all__ = [
    "given_text",
    "lmms_eval",
    "task_configs",
    "vlmevalkit",
]
