"""Scores of importance: the labelled messages, the parts of the sum, and texts made to be slow."""

import json
from pathlib import Path

import pytest

from mnemoir.conversations.windows.importance import IMPORTANT, ImportanceContext, score_importance
from mnemoir.conversations.windows.strategies.retained import rescore, score_new
from mnemoir.core.conversations import Message, TextPart
from tests.conversations.strategy_kit import SESSION, opened, save, talk

_LANGUAGES = ("en", "de", "zh", "fr", "es", "it", "pt", "nl")
_LABELLED = json.loads((Path(__file__).parent / "importance_fixture.json").read_text("utf-8"))


def _user(text: str) -> Message:
    return Message("user", text)


@pytest.mark.parametrize("language", [*_LANGUAGES, None])
def test_precision_and_recall_on_labelled_messages(language: str | None) -> None:
    rows = [row for row in _LABELLED if language in (None, row["language"])]
    found = [row for row in rows if score_importance(Message(row["role"], row["text"])) >= IMPORTANT]
    right = sum(row["important"] for row in found)
    assert right / len(found) >= 0.8
    assert right / sum(row["important"] for row in rows) >= 0.75


def test_the_fixture_is_large_in_three_languages_and_has_twenty_messages_of_five() -> None:
    assert len({row["text"] for row in _LABELLED}) == len(_LABELLED)
    counts = {language: sum(row["language"] == language for row in _LABELLED) for language in _LANGUAGES}
    assert counts == dict.fromkeys(("en", "de", "zh"), 66) | dict.fromkeys(("fr", "es", "it", "pt", "nl"), 20)


@pytest.mark.parametrize(
    ("message", "score"),
    [
        (Message("system", "anything"), 1.0),
        (_user("I prefer tea to coffee"), 0.6),
        (_user("We decided to use Rust for it"), 0.7),
        (_user("Remember that, please note: my name is Bo"), 1.0),
        (_user("Could you look at the second chapter"), 0.2),
        (_user("ok thanks"), 0.0),
        (_user(""), 0.0),
        (Message("assistant", "I prefer tea to coffee"), 0.2),
        (Message("assistant", "Agreed: we ship on Friday"), 0.7),
        (Message("assistant", "I'll help, let's use Rust, let me know"), 0.2),
        (Message("tool", "My name is Bo and we decided to leave"), 0.0),
        (Message("user", [TextPart("I prefer tea to coffee")]), 0.6),
        (_user("What should I do if we decided to use Rust?"), 0.2),
        (_user("```\nremember my name is Bo\n```"), 0.0),
        (_user("> I prefer tea\nlook at this quotation"), 0.2),
    ],
)
def test_a_score_is_the_sum_of_the_features(message: Message, score: float) -> None:
    assert score_importance(message) == score


def test_a_question_that_a_decision_answers_soon_counts_more() -> None:
    question = _user("Which database should it be?")
    decision = Message("assistant", "Agreed: we go ahead with Postgres")
    answered = ImportanceContext(after=[*talk(1), decision])
    too_late = ImportanceContext(after=[*talk(3), decision])
    assert [score_importance(question, context) for context in (None, answered, too_late)] == [0.2, 0.4, 0.2]


@pytest.mark.parametrize(
    "text",
    [
        "好的" * 59 + "X",
        "ok " * 39 + "z",
        "vamos " * 1_500,
        "je ne " * 1_500,
        "mi casa " * 1_100,
        "ik ben " * 1_200,
        "嗯" * 119 + "x",
        "my " * 9_000,
        "1" * 9_000,
        "我" * 9_000,
        "?" * 9_000 + "x",
    ],
)
def test_no_text_makes_scoring_slow(text: str) -> None:
    """What would go wrong here takes hours, and no test has them."""
    assert 0 <= score_importance(_user(text)) <= 1


def test_all_but_the_newest_messages_are_scored_once(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, talk(600))
        assert score_new(rows, SESSION, most=10_000) == 1_194
        assert score_new(rows, SESSION) == 0
        save(rows, talk(1))
        assert score_new(rows, SESSION) == 2


def test_a_very_long_past_is_scored_in_parts(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        save(rows, talk(1_000))
        scored = [score_new(rows, SESSION, most=500) for _ in range(6)]
    assert sum(scored) == 1_994
    assert max(scored) <= 501


def test_scores_are_the_same_whatever_was_read_at_once(tmp_path: Path) -> None:
    told = [_user("Which one should it be?"), _user("We decided to use Rust"), *talk(3)] * 100
    with opened(tmp_path) as rows:
        for at in range(0, len(told), 7):
            save(rows, told[at : at + 7])
            score_new(rows, SESSION)
        one_by_one = rows.important_messages(SESSION, 0.0)
        assert rescore(rows, SESSION) == len(told)
        assert rows.important_messages(SESSION, 0.0) == one_by_one


def test_a_programs_score_stays_until_all_are_scored_again(tmp_path: Path) -> None:
    with opened(tmp_path) as rows:
        ids = save(rows, talk(20))
        rows.set_importance({ids[4]: 0.9})
        score_new(rows, SESSION)
        assert [one.id for one in rows.important_messages(SESSION, 0.6)] == [ids[4]]
        rescore(rows, SESSION)
        assert rows.important_messages(SESSION, 0.6) == []
