"""The questions whose answers are under way, and what was put behind each of them meanwhile.

A message that comes while the answer before it is under way is put behind the question. The answer belongs between
the two, and whoever stores it has to know which messages came in this way: others behind the same question are
branches that a client asked for. Answers under way end with their process, and so do these notes.
"""

from pathlib import Path
from weakref import WeakValueDictionary


class OpenQuestion:
    """A question, for as long as an answer to it is under way: each such answer holds it.

    `followers` are the ids of the messages that were put behind it meanwhile.
    """

    __slots__ = ("__weakref__", "followers")

    def __init__(self) -> None:
        self.followers: set[int] = set()


class OpenQuestions:
    """The open questions of all users. Questions are named by the folder of their user and their id.

    Both methods are called within the transaction that stores the message, so that no answer is stored in between.
    """

    def __init__(self) -> None:
        self._open: WeakValueDictionary[tuple[Path, int], OpenQuestion] = WeakValueDictionary()

    def ask(self, folder: Path, message_id: int) -> OpenQuestion:
        """The question that the message is, with the answers to it that are under way already."""
        return self._open.setdefault((folder, message_id), OpenQuestion())

    def follow(self, folder: Path, parent_id: int, message_id: int) -> None:
        """Note a message that was put behind another one without being told to, if that is an open question."""
        question = self._open.get((folder, parent_id))
        if question is not None:
            question.followers.add(message_id)
