"""How the tables of OpenAI's chat protocol are written: a row, and where its member goes if nothing else is said."""

from tests.fidelity.fates import SAME, Fate, Json, Row, dropped, to

SAID: Json = {"role": "user", "content": "Hello"}


def row(name: str, given: Json, **fates: Fate) -> Row:
    """Passed to the same protocol and told to others, where nothing else is said.

    `chat` is the built-in workflow, `tree` like it where nothing else is said, `every` all places.
    """
    every = fates.get("every")
    chat, told = fates.get("chat", every or SAME), every or dropped(name)
    return Row(
        name=name,
        given=given,
        fates={
            "openai-chat": chat,
            "openai-responses": fates.get("responses", told),
            "ollama": fates.get("ollama", told),
            "tree": fates.get("tree", chat),
            "closed tree": fates.get("closed", told),
        },
    )


def member(name: str, value: object, **fates: Fate) -> Row:
    """A member of the body itself."""
    return row(name, {name: value}, **fates)


def option(name: str, value: object, **fates: Fate) -> Row:
    """A member that Ollama takes among its options."""
    return member(name, value, ollama=to(f"`options.{name}`", options={name: value}), **fates)
