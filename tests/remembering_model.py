"""A scripted model that finds one fact in an add: the user's own words. It notes which turns it was shown."""

import json
from collections.abc import Callable

from tests.scripted_llm import Answer, Asked, ScriptedLLM, ThreadedLLM

EXTRACTION = "memory_facts"
DECISION = "memory_changes"


def is_extraction(asked: Asked) -> bool:
    """Whether facts are asked for, and not a chat's answer."""
    return EXTRACTION in asked.prompt


def users_words(asked: Asked) -> list[str]:
    """What the user said in the turns that an extraction shows the model."""
    shown = asked.body.get("input") or asked.body["messages"]
    content = shown[-1]["content"]
    document = json.loads(content if isinstance(content, str) else content[0]["text"])
    return [turn["text"] for turn in document["turns"] if turn["role"] == "user"]


def learn_every_turn(
    llm: ScriptedLLM | ThreadedLLM, instead: Callable[[Asked], Answer | None] = lambda asked: None
) -> list[list[str]]:
    """Let each user turn be one fact, and each fact be new. Gives the turns shown, call by call, as they come.

    `instead` may answer an extraction otherwise.
    """
    seen: list[list[str]] = []

    def extract(asked: Asked) -> Answer:
        seen.append(users_words(asked))
        return instead(asked) or Answer(text=json.dumps({"facts": seen[-1]}))

    llm.rule(is_extraction, extract)
    llm.rule(lambda asked: DECISION in asked.prompt, json.dumps({"memory": []}))
    return seen
