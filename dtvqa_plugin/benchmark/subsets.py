"""Names, sizes and sources of the benchmark's parts (paper section 3; released repository)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subset:
    """One of the four parts of DT-VQA.

    ``name`` is the released ``dataset_name``; ``task`` the short form in task names
    (``dtvqa_scene``); ``test_questions`` the published number of hand-picked test questions.
    """

    name: str
    task: str
    style: str
    origin: str
    test_questions: int = 300


SUBSETS: dict[str, Subset] = {
    subset.name: subset
    for subset in (
        Subset("DTScene", "scene", "street scenes", "HierText"),
        Subset("DTNutrCap", "nutrcap", "nutrition labels", "POIE"),
        Subset("DTProdCap", "prodcap", "product photos", "DAST"),
        Subset("DTTabShot", "tabshot", "table screenshots", "TabFact"),
    )
}
"""The four subsets in the paper's order."""

SAMPLE_SUBSETS: dict[str, Subset] = {
    subset.name: subset
    for subset in (
        Subset("MiniScene", "scene", "street scenes", "drawn by this project", 0),
        Subset("MiniNutrCap", "nutrcap", "nutrition labels", "drawn by this project", 0),
        Subset("MiniProdCap", "prodcap", "product photos", "drawn by this project", 0),
        Subset("MiniTabShot", "tabshot", "table screenshots", "drawn by this project", 0),
    )
}
"""Parts of the embedded sample: named apart, so that its score cannot pass for a DT-VQA score."""
