"""The dataset names VLMEvalKit learns, and what each one asks. Imports no host."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from dtvqa_plugin.benchmark.inputs import GIVEN_TEXT, RESOLUTIONS, ModelInput
from dtvqa_plugin.benchmark.prompts import GIVEN_TEXT_PROMPT
from dtvqa_plugin.benchmark.subsets import SUBSETS
from dtvqa_plugin.errors import HostError

DATASET_CLASS = "DTVQADataset"
NATIVE_CLASS = "DTVQANativeDataset"
NATIVE_PROMPT = "native"
"""Stands for a prompt in results of ``DTVQA_NATIVE``: the words are the model class's own."""


@dataclass(frozen=True, slots=True)
class DatasetEntry:
    """One dataset name.

    ``prompt`` is a name of `benchmark.prompts` or ``NATIVE_PROMPT``, ``given`` what the model gets
    beside the question, in a condition of this plugin.
    """

    name: str
    split: str
    subset: str | None
    prompt: str
    given: ModelInput | None = None

    @property
    def condition(self) -> str:
        """The condition under which results are kept."""
        return self.prompt if self.given is None else self.given.condition

    @property
    def longest_side(self) -> int | None:
        """Pixels that the picture's longest side is reduced to; None for all."""
        return None if self.given is None else self.given.longest_side

    @property
    def gives_text(self) -> bool:
        """Whether the recognised text stands before the question."""
        return self.given is not None and self.given.gives_text

    @property
    def gives_picture(self) -> bool:
        """Whether the model is shown the picture."""
        return self.given is None or self.given.picture != "none"

    @property
    def native(self) -> bool:
        """Whether the model's own prompt builder is let act."""
        return self.prompt == NATIVE_PROMPT

    @property
    def class_name(self) -> str:
        """The class that a config entry names."""
        return NATIVE_CLASS if self.native else DATASET_CLASS


def _entries() -> list[DatasetEntry]:
    parts: list[tuple[str, str, str | None]] = [("DTVQA", "test", None)]
    parts += [(f"DTVQA_{subset}", "test", subset) for subset in SUBSETS]
    parts.append(("DTVQA_MINI", "mini", None))
    parts.append(("DTVQA_CUSTOM", "custom", None))
    entries = []
    for name, split, subset in parts:
        entries.append(DatasetEntry(name, split, subset, "none"))
        entries.append(DatasetEntry(f"{name}_PROMPTED", split, subset, "paper"))
    for name, split in (("DTVQA", "test"), ("DTVQA_MINI", "mini")):
        for given in (*RESOLUTIONS, *GIVEN_TEXT):
            prompt = GIVEN_TEXT_PROMPT if given.gives_text else "none"
            full = f"{name}_{given.dataset_ending}"
            entries.append(DatasetEntry(full, split, None, prompt, given))
    entries.append(DatasetEntry("DTVQA_NATIVE", "test", None, NATIVE_PROMPT))
    return entries


DATASETS: dict[str, DatasetEntry] = {entry.name: entry for entry in _entries()}
"""Every dataset by name. The host mixes up the files of a name and of its prefixes unless both
are registered, so all of these are, always."""


def get_entry(name: str) -> DatasetEntry:
    """Return the dataset called ``name``; HostError lists the nearest names otherwise."""
    if name in DATASETS:
        return DATASETS[name]
    upper = {known.upper(): known for known in DATASETS}
    near = difflib.get_close_matches(name.upper().replace("-", ""), upper, n=3, cutoff=0.6)
    likely = f"did you mean {' or '.join(upper[key] for key in near)}? " if near else ""
    raise HostError(f"no dataset {name!r} here; {likely}known: {', '.join(DATASETS)}")


def looks_like_ours(name: str) -> bool:
    """Whether ``name`` is meant for this plugin: it begins like DTVQA, give or take one slip."""
    head = name.upper().replace("-", "").replace("_", "")[: len("DTVQA")]
    return head[:1] == "D" and difflib.SequenceMatcher(None, head, "DTVQA").ratio() >= 0.8
