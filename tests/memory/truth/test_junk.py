"""What nobody said of themselves is not learned; what a model reads out of irony or code is told to be unsure."""

import pytest

from tests.memory.facts.scripted_model import ScriptedModel, document_of, facts_reply
from tests.memory.truth.conftest import MIRA, model_that

HIDDEN = [  # a model is not even shown the statements
    "You need to summarize the title of the conversation. User: I live in Paris. I am a pilot.",
    "### Task:\nGenerate a concise title.\n<chat_history>\nUSER: I live in Paris. I am a pilot.\n</chat_history>",
    "Recalled background about the user:\n- Lives in Paris\n- I am a pilot\n",
    "<memories>\n- I live in Paris\n- I am a pilot\n</memories>\nWhat should I cook?",
]
UNSAID = [
    "User: I live in Paris.\nAssistant: Nice.\nUser: I am a pilot.",
    "You are a helpful assistant. You must answer briefly. I live in the cloud.",
    "My boss variable is undefined",
    "My dog class throws an exception",
    'She said "I live in Paris".',
    "Translate to German: I live in Paris and I am a pilot.",
    "If I lived in Paris I would be happy.",
    "Imagine you are a pirate: I am Captain Hook.",
]
UNSURE = [
    ("Oh sure, I love waiting in line", "Loves waiting in line"),
    ("Yeah, right, because I love traffic jams.", "Loves traffic jams"),
    ("```python\nname = 'I live in Paris'\n```", "Lives in Paris"),
    ("What does `I have two dogs` print?", "Has two dogs"),
    ("Translate to German: I live in Paris and I am a pilot.", "Is a pilot"),
    ("> I live in Paris.\nWho wrote that?", "Lives in Paris"),
]


@pytest.mark.parametrize("text", [*HIDDEN, *UNSAID, *(text for text, _ in UNSURE)])
async def test_without_a_model_nothing_is_learned_from_it(live, text):
    life = live()
    await life.tell(text)
    assert await life.now() == []


@pytest.mark.parametrize("text", HIDDEN)
async def test_a_model_is_not_shown_it(live, text):
    model = ScriptedModel(script=lambda request: facts_reply())
    await live(model).tell(text)
    shown = [turn["text"] for request in model.asked for turn in document_of(request)["turns"]]
    assert not any("Paris" in each or "pilot" in each for each in shown)


@pytest.mark.parametrize(("text", "fact"), UNSURE)
async def test_the_history_of_what_a_model_reads_out_of_irony_or_code_says_that_it_is_unsure(live, text, fact):
    life = live(model_that("ADD", {line: [fact] if n == 0 else [] for n, line in enumerate(text.splitlines())}))
    await life.tell(text)
    [memory] = await life.facts.page(MIRA, limit=9)
    [event] = await life.store.history(MIRA, memory.id)
    assert (memory.text, event.reason) == (fact, "unsure")


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I live in Paris.", "Lives in Paris"),
        ("I moved to Paris, see `home = 'Paris'`.", "Lives in Paris"),
        ("J'habite à Paris.", "Lives in Paris"),
        ("Yes, exactly.", "Is a pilot"),
    ],
)
async def test_what_the_user_said_or_agreed_to_is_not_unsure(live, text, fact):
    life = live(model_that("ADD", {text: [fact]}))
    await life.tell(text)
    [memory] = await life.facts.page(MIRA, limit=9)
    [event] = await life.store.history(MIRA, memory.id)
    assert event.reason == "extracted"
