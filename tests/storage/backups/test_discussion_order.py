"""The files of each discussion are copied together, under its lock, wherever the folders of clients' keys are."""

from mnemoir.storage.backups.discussions import by_discussion

KEY = "0123456789abcdef"
OWN = frozenset({"%users"})


def test_files_in_the_folder_of_a_key_are_those_of_its_discussions():
    for root in ("", "%users/ann/"):
        paths = [f"{root}{KEY}/tea/{name}" for name in ("memories.json", "chat_summary.json", "vector_memory.db")]
        found = by_discussion([*paths, f"{root}{KEY}/tea.lock", f"{root}tea_memories.jsonl"], OWN)
        assert sorted(found) == sorted([f"{root}{KEY}/tea.lock", f"{root}tea.lock"])
        first, *rest = found[f"{root}{KEY}/tea.lock"]
        assert first.endswith("chat_summary.json")
        assert sorted([first, *rest]) == sorted([*paths, f"{root}{KEY}/tea.lock"])


def test_a_discussion_may_be_called_like_the_folder_of_a_key():
    paths = [f"{KEY}/memories.json", f"{KEY}/timestamps.json.lock", f"{KEY}_summary.jsonl", f"{KEY}.lock"]
    (members,) = by_discussion(paths, OWN).values()
    assert list(by_discussion(paths, OWN)) == [f"{KEY}.lock"]
    assert sorted(members) == sorted(paths)
