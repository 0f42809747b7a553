"""A module for a PythonModule node: it counts words, which models do badly.

The node calls `Invoke` with its `args` and `kwargs`, all of them texts. The returned value is the node's output: a
text, a number, a list or an object.
"""

import re


def Invoke(text: str, words_per_minute: str = "200") -> dict[str, float]:
    """The numbers of words and sentences, and the minutes it takes to read the text aloud."""
    words = len(re.findall(r"[\w'’-]+", text))
    sentences = len(re.findall(r"[^.!?\s][^.!?]*[.!?]*", text))
    return {"words": words, "sentences": sentences, "minutes": round(words / float(words_per_minute), 1)}
