"""The check of `make lint` that functions are named by nouns and verbs."""

from tests.each_case import check_each
from tools.function_names import is_participle, problems


def test_a_name_that_ends_in_a_participle_or_a_gerund_is_found():
    def found(name: str) -> None:
        assert is_participle(name)

    check_each(["listed", "_told", "rows_begun", "_given", "restoring"], found)


def test_nouns_verbs_and_predicates_are_no_participles():
    def passed(name: str) -> None:
        assert not is_participle(name)

    names = [
        "sorted_hits",
        "is_closed",
        "has_written",
        "keep_damaged",
        "embedding",
        "feed",
        "data_received",
        "__init__",
    ]
    check_each(names, passed)


def test_what_is_no_exception_and_what_is_one_no_longer_are_named(tmp_path):
    (tmp_path / "rows.py").write_text("def listed(): ...\n\n\nclass Row:\n    async def kept(self): ...\n", "utf-8")
    exceptions = ["rows.py:kept", "rows.py:gone"]
    assert [line.partition(": ")[0] for line in problems(tmp_path, exceptions)] == ["rows.py:listed", "rows.py:gone"]
