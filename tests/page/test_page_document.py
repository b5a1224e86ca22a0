"""What the page is made of: figures as in the tables, outcomes, flags, pictures, safe JSON."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from page_runs import HOSTILE, SAMPLE, noise_jpeg, sample_runs, skilled, write_run
from PIL import Image
from released_layout import make_release

from dtvqa_plugin.analysis.published import published_rows
from dtvqa_plugin.analysis.tables import result_tables
from dtvqa_plugin.cli.report import report
from dtvqa_plugin.data.store import Store
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.metrics.scored import score_answer
from dtvqa_plugin.report import References, Run, RunError, read_run
from dtvqa_plugin.report.html.document import (
    LEAST_TEXT,
    Sampling,
    check_runs,
    outcome,
    page_document,
    text_limit,
)
from dtvqa_plugin.report.html.page import as_json, render_page, write_page
from dtvqa_plugin.report.html.pictures import LARGEST, STEPS, Picture, pictures, thumbnail
from dtvqa_plugin.runs.run import TEXT_KEPT

FAST = Sampling(resamples=200)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    return sample_runs(tmp_path_factory.mktemp("runs"), "skilled", "weak", "dump", "hostile")


@pytest.fixture(scope="module")
def document(runs: list[Run]) -> dict[str, Any]:
    return page_document(runs, {}, sampling=FAST)


# --- figures ----------------------------------------------------------------------------------


def test_figures_are_those_of_the_result_table(runs: list[Run], document: dict[str, Any]) -> None:
    (table,) = result_tables(runs, resamples=FAST.resamples)
    for shown, row in zip(document["runs"], table.run_rows, strict=True):
        assert shown["signature"] == row.signature
        for (part, metric), (value, interval) in row.cells.items():
            assert interval is not None
            figures = shown["figures"][part][metric]
            assert figures == pytest.approx([value, interval.low, interval.high], abs=1e-4)
    assert document["notes"] == table.notes()


def test_scores_of_questions_add_up_to_the_figures(document: dict[str, Any]) -> None:
    for place, run in enumerate(document["runs"]):
        scores = [question["results"][place]["scores"] for question in document["questions"]]
        for column, metric in enumerate(("anls", "acc", "accanls")):
            mean = 100 * sum(score[column] for score in scores) / len(scores)
            assert mean == pytest.approx(run["figures"]["overall"][metric][0], abs=1e-3)


def test_flips_of_a_pair_are_counted_from_the_scores(document: dict[str, Any]) -> None:
    assert [(pair["a"], pair["b"]) for pair in document["pairs"]] == [
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3),
    ]  # fmt: skip
    for pair in document["pairs"]:
        credits = [
            tuple(question["results"][pair[side]]["scores"][2] > 0 for side in "ab")
            for question in document["questions"]
        ]
        found = pair["metrics"]["accanls"]
        assert found["gained"] == credits.count((True, False))
        assert found["lost"] == credits.count((False, True))


def test_published_rows_are_beside_the_runs(tmp_path: Path) -> None:
    home = make_release(tmp_path / "home")
    references = References(home)
    chosen = list(references.split("test").values())
    run = read_run(write_run(tmp_path / "run.jsonl", skilled, chosen), references)
    shown = page_document([run], {}, published=published_rows(), sampling=FAST)["published"]
    assert {row["name"]: row["figures"]["overall"]["accanls"] for row in shown} == {
        "GPT-4V": [76.8],
        "Monkey": [56.6],
    }
    assert all(row["source"] for row in shown)


# --- questions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prediction", "expected"),
    [
        ("{answer}", "exact"),
        ("The answer is {answer}, I think", "contained"),
        ("{near}", "near"),
        ("something quite different", "none"),
        ("", "none"),
        ("<think>never closed", "none"),
        (None, "failed"),
        ("Failed to obtain answer via API.", "failed"),
    ],
)
def test_outcomes(prediction: str | None, expected: str) -> None:
    record = max(SAMPLE, key=lambda r: len(r.answers[0]))
    answer = record.answers[0]
    text = prediction and prediction.format(answer=answer, near=answer[:-1] + "§")
    assert outcome(score_answer(text, record.answers, record.question_id)) == expected


def test_matched_references_and_edits_go_with_the_outcome(document: dict[str, Any]) -> None:
    seen = set()
    for question in document["questions"]:
        for result in question["results"]:
            seen.add(result["outcome"])
            kinds = {kind for kind, _ in result["output"]}
            if result["outcome"] in ("exact", "contained"):
                marked = [text for kind, text in result["output"] if kind == "m"]
                answer = question["answers"][result["matched"]]
                assert {text.lower() for text in marked} == {answer.lower()}
                assert "edit" not in result
            else:
                assert "m" not in kinds
            if result["outcome"] == "near":
                assert result["matched"] == result["nearest"]
                whole = "".join(text for kind, text in result["edit"] if kind != "-")
                assert whole == "".join(text for _, text in result["output"])
    assert seen == {"exact", "contained", "near", "none", "failed"}


def test_flags_name_the_outputs_of_the_audits(runs: list[Run], document: dict[str, Any]) -> None:
    (table,) = result_tables(runs, resamples=FAST.resamples)
    for number, flag in enumerate(document["flags"]):
        for place, found in enumerate(table.audits):
            flagged = {
                question["id"]
                for question in document["questions"]
                if number in question["results"][place]["flags"]
            }
            assert len(flagged) == flag["counts"][place]
            same = [item for item in found.all_findings if item.name == flag["name"]]
            assert all(set(item.question_ids) == flagged for item in same)
    names = [flag["name"] for flag in document["flags"]]
    assert names[:2] == ["verbose", "boundary"]
    assert document["flags"][0]["counts"][2] > 0


def test_questions_that_a_run_lacks_are_shown_as_such(tmp_path: Path) -> None:
    half = read_run(write_run(tmp_path / "half.jsonl", skilled, SAMPLE[::2]))
    (whole,) = sample_runs(tmp_path, "skilled")
    shown = page_document([half, whole], {}, sampling=FAST)
    lacking = [q["id"] for q in shown["questions"] if q["results"][0] is None]
    assert set(lacking) == {record.question_id for record in SAMPLE[1::2]}
    assert all(question["results"][1] for question in shown["questions"])
    assert (shown["pairs"][0]["common"], shown["pairs"][0]["onlyB"]) == (32, 32)


def test_runs_without_a_common_question_have_no_difference(tmp_path: Path) -> None:
    first = read_run(write_run(tmp_path / "first.jsonl", skilled, SAMPLE[:16]))
    second = read_run(write_run(tmp_path / "second.jsonl", skilled, SAMPLE[16:]))
    (pair,) = page_document([first, second], {}, sampling=FAST)["pairs"]
    assert pair == {"a": 0, "b": 1, "common": 0, "onlyA": 16, "onlyB": 48}


@pytest.mark.parametrize(
    ("outputs", "limit"), [(1, TEXT_KEPT), (1000, TEXT_KEPT), (4800, 833), (10**6, LEAST_TEXT)]
)
def test_outputs_share_a_budget_of_text(outputs: int, limit: int) -> None:
    assert text_limit(outputs) == limit


@pytest.mark.parametrize("place", [3_990, 4_000, 4_001, 9_000])
def test_a_matched_answer_beyond_what_is_kept_is_shown_in_its_context(
    tmp_path: Path, place: int
) -> None:
    record = SAMPLE[0]
    answer = record.answers[0].upper()
    output = (
        f"{'İ' * 10}{'a b' * place}"[:place] + f"so it says {answer} on the label" + "z" * 5_000
    )
    path = tmp_path / "long.jsonl"
    rows = [{"question_id": record.question_id, "prediction": output}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    document = page_document([read_run(path)], {}, sampling=FAST)
    pieces = document["questions"][0]["results"][0]["output"]
    assert [text for kind, text in pieces if kind == "m"] == [answer]
    marked = next(i for i, piece in enumerate(pieces) if piece[0] == "m")
    assert pieces[marked - 1][1].endswith("so it says ")
    assert str(pieces[marked + 1][1]).startswith(" on the label")
    assert sum(n if kind == "gap" else len(n) for kind, n in pieces) == len(output)


# --- what is refused --------------------------------------------------------------------------


def test_more_than_four_runs_are_refused_by_name(tmp_path: Path) -> None:
    (run,) = sample_runs(tmp_path, "skilled")
    with pytest.raises(RunError, match=r"up to 4 runs.*these are 5(?s:.*)skilled"):
        check_runs([run] * 5)
    with pytest.raises(RunError, match="no runs"):
        check_runs([])


def test_runs_over_two_splits_are_refused(tmp_path: Path) -> None:
    references = References(make_release(tmp_path / "home"))
    chosen = list(references.split("test").values())
    over_test = read_run(write_run(tmp_path / "test.jsonl", skilled, chosen), references)
    (over_sample,) = sample_runs(tmp_path, "skilled")
    with pytest.raises(RunError, match="over test and mini; write one page per split"):
        check_runs([over_test, over_sample])


# --- pictures ---------------------------------------------------------------------------------


def decoded(data: str) -> tuple[Image.Image, int]:
    head, _, body = data.partition(",")
    assert head == "data:image/jpeg;base64"
    content = base64.b64decode(body)
    return Image.open(io.BytesIO(content)), len(content)


@pytest.mark.parametrize("limit", [LARGEST, 18_000, 6_000])
def test_thumbnails_keep_to_their_bytes(tmp_path: Path, limit: int) -> None:
    (tmp_path / "noise.jpg").write_bytes(noise_jpeg(1))
    data, size = thumbnail(tmp_path / "noise.jpg", limit)
    image, length = decoded(data)
    assert length <= limit
    assert size == (900, 900)
    assert STEPS[-1][0] <= max(image.size) <= STEPS[0][0]


def test_a_small_image_is_not_enlarged_and_a_turned_one_is_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (60, 30), "teal").save(tmp_path / "turned.jpg", exif=exif)
    data, size = thumbnail(tmp_path / "turned.jpg", LARGEST)
    assert size == (30, 60)
    assert decoded(data)[0].size == (30, 60)


def test_missing_and_damaged_images_say_so(tmp_path: Path) -> None:
    folder = tmp_path / "image" / "DTScene" / "test"
    folder.mkdir(parents=True)
    Image.new("RGB", (40, 20)).save(folder / "good.png")
    (folder / "bad.png").write_bytes(b"not an image")
    names = [f"DTScene/test/{name}.png" for name in ("good", "bad", "gone")]
    found = pictures(names, Store(tmp_path))
    good, bad, gone = (found[name] for name in names)
    assert good.data is not None
    assert good.file == (folder / "good.png").resolve().as_uri()
    assert (good.size, good.problem) == ((40, 20), None)
    assert bad.data is None
    assert bad.problem is not None
    assert "not an image" in bad.problem
    assert str(tmp_path) not in bad.problem
    assert gone == Picture(problem="not in the store")


@pytest.mark.parametrize(("thumbnails", "links"), [(True, False), (False, True), (False, False)])
def test_thumbnails_and_links_can_be_left_out(
    tmp_path: Path, thumbnails: bool, links: bool
) -> None:
    folder = tmp_path / "image" / "DTScene" / "test"
    folder.mkdir(parents=True)
    Image.new("RGB", (40, 20)).save(folder / "a.png")
    (found,) = pictures(
        ["DTScene/test/a.png"], Store(tmp_path), thumbnails=thumbnails, links=links
    ).values()
    assert (found.data is not None) == thumbnails
    assert (found.file is not None) == links


# --- the file ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [*HOSTILE, "\ud800", "plain", "中文 “quoted” \\u003c"])
def test_text_goes_through_the_data_block_unchanged_and_inert(text: str) -> None:
    encoded = as_json({"text": text})
    assert json.loads(encoded) == {"text": text}
    assert not re.search("[<>&\u2028\u2029\ud800-\udfff]", encoded)
    encoded.encode("utf-8")


def test_the_policy_allows_this_script_and_style_and_nothing_else(
    document: dict[str, Any],
) -> None:
    page = render_page(document, {})
    (policy,) = map(html.unescape, re.findall(r'Policy" content="([^"]*)"', page))
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        (source,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data: file:"
    assert len(re.findall("<script", page)) == 3
    sources = re.findall(r'(?:src|href|action)="([^"]*)"', page)
    assert sources == ["data:,", "#questions"]


def test_a_title_is_text(runs: list[Run]) -> None:
    page = render_page(page_document(runs[:1], {}, title="<b>&</b>", sampling=FAST), {})
    assert "<title>&lt;b&gt;&amp;&lt;/b&gt;" in page
    assert "<b>" not in page


def test_a_page_that_cannot_be_written_leaves_the_earlier_one(tmp_path: Path) -> None:
    with pytest.raises(DTVQAError, match="cannot be written"):
        write_page(tmp_path / "absent" / "report.html", "new")
    (tmp_path / "report.html").mkdir()
    with pytest.raises(DTVQAError, match=r"report\.html: cannot be written"):
        write_page(tmp_path / "report.html", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


# --- the command ------------------------------------------------------------------------------


def test_the_command_writes_a_page_and_says_what_is_in_it(tmp_path: Path) -> None:
    paths = [str(write_run(tmp_path / f"{name}.jsonl", skilled)) for name in ("one", "two")]
    out = tmp_path / "report.html"
    done = CliRunner().invoke(
        report, [*paths, "-o", str(out), "--resamples", "200", "--title", "Two runs"]
    )
    assert done.exit_code == 0, done.output
    assert "64 questions, 2 of up to 4 runs" in done.output
    first = out.read_bytes()
    assert b"<title>Two runs" in first
    CliRunner().invoke(
        report, [*paths, "-o", str(out), "--resamples", "200", "--title", "Two runs"]
    )
    assert out.read_bytes() == first


def test_a_page_over_the_released_questions(tmp_path: Path, shared_dir: Path) -> None:
    home = shared_dir / "hub" / "DT-VQA"
    references = References(home)
    chosen = list(references.split("test").values())
    path = write_run(tmp_path / "run.jsonl", skilled, chosen)
    out = tmp_path / "report.html"
    arguments = [str(path), "--data", str(home), "-o", str(out), "--resamples", "200"]
    done = CliRunner().invoke(report, [*arguments, "--no-thumbnails", "--published"])
    assert done.exit_code == 0, done.output
    block = re.search(r'id="document">(.*?)</script>', out.read_text("utf-8"), re.DOTALL)
    assert block is not None
    shown = json.loads(block[1])
    assert len(shown["questions"]) == 1200
    assert len(shown["images"]) == 940
    assert [row["name"] for row in shown["published"]] == ["GPT-4V", "Monkey"]
