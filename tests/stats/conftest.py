"""Statistics of the embedded sample, drawn once a session."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from stats_files import Written

from dtvqa_plugin.cli.stats import stats


@pytest.fixture(scope="session")
def sample_stats(tmp_path_factory: pytest.TempPathFactory) -> Written:
    for name in ("matplotlib", "wordcloud", "jieba"):
        pytest.importorskip(name)
    folder = tmp_path_factory.mktemp("stats") / "new" / "folder"
    done = CliRunner().invoke(stats, ["--split", "mini", "-o", str(folder)])
    assert done.exit_code == 0, done.output
    found = json.loads((folder / "stats.json").read_text("utf-8"))
    return Written(folder, found, done.output)
