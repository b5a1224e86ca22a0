"""``dtvqa annotate expand``: proposals for acceptable variants of every answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from dtvqa_plugin.annotate.extract import pairs_by_image
from dtvqa_plugin.annotate.project.journal import Damage, Rewritten
from dtvqa_plugin.annotate.project.project import Project, report_damage
from dtvqa_plugin.annotate.text.variants import propose


@dataclass(slots=True)
class ExpandReport:
    """Counts of one pass: pairs, those with proposals, and proposals by rule."""

    pairs: int = 0
    with_proposals: int = 0
    rules: Counter[str] = field(default_factory=Counter)


def expand(project: Project) -> ExpandReport:
    """Write ``proposals.jsonl`` anew. Raises `AnnotateError` when there are no pairs yet."""
    report = ExpandReport()
    damage = Damage(project.pairs.path)
    groups = pairs_by_image(project, damage)
    with project.working("expand"), Rewritten(project.proposals.path) as target:
        for group in groups:
            for pair in group:
                variants = propose([str(answer) for answer in pair["answers"]])
                report.pairs += 1
                report.with_proposals += bool(variants)
                report.rules.update(variant.rule for variant in variants)
                if variants:
                    proposals = [[v.text, v.rule, v.reason] for v in variants]
                    target.write({"pair": pair["pair"], "proposals": proposals})
    report_damage(damage)
    return report
