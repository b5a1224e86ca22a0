"""A question set of the user's in the store: replaced as a whole, or left as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from data_releases import png, sound_record, tree, write_json

from dtvqa_plugin.data.transfer.import_custom import import_custom
from dtvqa_plugin.errors import DataError


def exported(folder: Path, question: str) -> Path:
    """A set of one question, as ``dtvqa annotate export`` writes it."""
    write_json(folder / "custom.json", {"name": "Signs"})
    write_json(folder / "test/DT_custom.json", [sound_record("Signs-street", question=question)])
    image = folder / "image/Signs-street/test/0.png"
    image.parent.mkdir(parents=True)
    image.write_bytes(png())
    return folder


def test_an_earlier_one_of_its_name_is_replaced(tmp_path: Path, dtvqa_home: Path) -> None:
    for question in ("first", "second"):
        found, _ = import_custom(exported(tmp_path / question, question))
        (record,) = json.loads((found.folder / "test/DT_custom.json").read_text())
        assert (found.folder, record["question"]) == (dtvqa_home / "custom/Signs", question)
    assert [path.name for path in (dtvqa_home / "custom").iterdir()] == ["Signs"]


@pytest.mark.parametrize("failing", [1, 2], ids=["moving the old away", "moving the new in"])
def test_a_rename_that_fails_leaves_the_earlier_one(
    tmp_path: Path, dtvqa_home: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    import_custom(exported(tmp_path / "first", "first"))
    before = tree(dtvqa_home)
    rename, calls = Path.rename, 0

    def fails_once(self: Path, target: Path) -> Path:
        nonlocal calls
        calls += 1
        if calls == failing:
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails_once)
    with pytest.raises(DataError, match="the disk is full"):
        import_custom(exported(tmp_path / "second", "second"))
    assert calls >= failing
    assert tree(dtvqa_home) == before
