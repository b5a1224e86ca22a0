"""Log a run's figures and its questions to W&B or trackio: ``log_run.py RUN PROJECT [trackio]``.

Both libraries have the same ``init``, ``log`` and ``Table``.
"""

from __future__ import annotations

import importlib
import sys

from dtvqa_plugin.report import questions_frame, read_run


def log_run(path: str, project: str, library: str = "wandb") -> None:
    """Log one run; figures are 0-100 as in the paper."""
    tracker = importlib.import_module(library)
    run = read_run(path)
    frame = questions_frame([run])
    scores = frame[["subset", "anls", "acc", "accanls"]]
    figures = {"overall": scores.drop(columns="subset").mean(), **by_subset(scores)}
    config = {"condition": run.condition, "signature": str(run.signature())}
    tracker.init(project=project, name=f"{run.name} [{run.condition}]", config=config)
    tracker.log(
        {
            f"dtvqa/{part}/{metric}": 100 * float(value)
            for part, means in figures.items()
            for metric, value in means.items()
        }
    )
    tracker.log({"dtvqa/questions": tracker.Table(dataframe=frame)})
    tracker.finish()


def by_subset(scores):  # a pandas frame
    """Mean scores of each subset."""
    return {name: part.drop(columns="subset").mean() for name, part in scores.groupby("subset")}


if __name__ == "__main__":
    log_run(*sys.argv[1:])
