"""The directory of discussions that a configuration names."""

from pathlib import Path

import pytest

from mnemoir.workflows.discussion_files import own_directory

BASE, DEFAULT = Path("/tree/Public"), Path("/tree/Public/DiscussionIds")


@pytest.mark.parametrize(
    ("named", "place"),
    [
        ("", DEFAULT),
        ("  ", DEFAULT),
        ("chats", BASE / "chats"),
        ("/srv/chats", Path("/srv/chats")),
        ("~/chats", Path.home() / "chats"),
        ("~nobody-of-that-name/chats", DEFAULT),
        ("D:\\Temp", DEFAULT),
        ("D:/Temp", DEFAULT),
        ("\\\\server\\share", DEFAULT),
    ],
)
def test_the_named_directory_is_used_if_it_is_usable(named, place):
    assert own_directory(named, BASE, DEFAULT) == place
