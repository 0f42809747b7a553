"""The comparison of a benchmark's figures with those of an earlier commit."""

import json

import pytest

from bench import figures


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch):
    monkeypatch.setattr(figures, "_kept", {})


def test_a_figure_that_grew_by_more_than_a_tenth_is_named_and_no_other():
    before = {"chat": 4.0, "start": 2.0, "memory": 160.0, "gone": 1.0}
    now = {"chat": 4.5, "start": 2.2, "memory": 100.0, "new": 9.0}
    assert figures.worse(before, now) == ["chat: 4.5, it was 4."]


def test_saved_figures_have_their_commit_and_stay_beside_those_of_another_run(tmp_path):
    file = tmp_path / "figures.json"
    figures.keep("chat", 4.0)
    figures.save(file)
    figures._kept.clear()
    assert figures.keep("start", 2.00049) == 2.00049
    figures.save(file)
    saved = json.loads(file.read_text())
    assert saved["figures"] == {"chat": 4.0, "start": 2.0}
    assert saved["commit"]
    figures.keep("start", 2.3)
    assert figures.worse_than(file) == ["start: 2.3, it was 2."]


def test_a_file_that_is_not_there_is_no_comparison(tmp_path):
    with pytest.raises(OSError, match="missing"):
        figures.worse_than(tmp_path / "missing.json")
