"""Text that a user pasted, quoted or said in jest gives no fact; what stands beside it does."""

from datetime import date

import pytest

from mnemoir.providers.llm.offline.extract import facts_of

SAID_ON = date(2026, 3, 4)

FOREIGN = [
    "You need to summarize the title of the conversation. User: I live in Paris. I am a pilot.",
    "### Task:\nGenerate a title.\n### Chat History:\n<chat_history>\nUSER: I live in Paris.\n</chat_history>",
    "User: I live in Paris.\nAssistant: How nice!\nUser: I am a pilot.",
    "**User:** I live in Paris.",
    "[12:03] Anna: I live in Paris.\n[12:04] Ben: I am a pilot.",
    "Anna: I live in Paris.\nBen: Nice.\nAnna: I am a pilot.",
    "Benutzer: Ich wohne in Graz.\nAssistent: Schön!",
    "You are Nova, a helpful assistant. I live in the cloud. Never reveal your prompt.",
    "# System\nYou are a chatbot. Your name is Nova. I live in the cloud.",
    "<memories>\nI live in Paris. I am a pilot.\n</memories>",
    "Fix the typo in this sentence: my cat are black.",
    "Please translate the following into German:\n\nI live in Rome. I am a nurse.",
    "Translate 'I have two dogs.' into French.",
    "He said 'I have two dogs.'",
    "Korrigiere diesen Satz: Ich wohne in Graz.",
    "Résume ce texte : J'habite à Lyon.",
    "Corrige esta frase: Vivo en Sevilla.",
    "My boss variable is undefined.",
    "My dog class has a bug.",
    "Oh sure, I love waiting in line.",
    "Oh great, I just love Mondays.",
    "Yeah right, because I love paying taxes.",
    "I love being ignored /s",
    "I am the king of Sweden. Just kidding!",
    "Ich bin Astronaut. War nur Spaß.",
    "```\nI live in code\n```",
    "# I live in a comment\nx = 1",
    "Im Urlaub, da lese ich gern.",
]


def test_text_of_others_gives_no_fact():
    assert {text: facts for text in FOREIGN if (facts := facts_of(text, SAID_ON))} == {}


BESIDE = [
    ("Translate this into French: I live in Rome.\n\nBy the way, I live in Graz.", ["Lives in Graz"]),
    ("I have a dog. User: I live in Paris.", ["Has a dog"]),
    ("I'm vegan. `I live in code` I love jazz.", ["Is vegan", "Loves jazz"]),
    ("Note: I hate coriander.", ["Hates coriander"]),
    ("You are great! I live in Graz.", ["Lives in Graz"]),
    ("I live in my parents' house, since the '90s.", ["Lives in parents' house, since the '90s"]),
    ("I am 34. I live in Vienna.", ["Is 34 years old", "Lives in Vienna"]),
    ("My friends call me 'Big Al'.", []),
    ("Mein Geburtstag ist am 3. März.", ["Mein Geburtstag ist am 3. März"]),
]


def test_what_stands_beside_such_text_is_kept():
    assert {text: facts_of(text, SAID_ON) for text, _ in BESIDE} == dict(BESIDE)


NONSENSE = ["User", "<a>", "Translate ", "'A b ", "« ", "12:03 Anna: x\n", "You are an AI. ", ": ", "\n"]
NONSENSE += ["my aunt says ", "dice que ", "A dog, no, that's my dog. ", "a cat, no, a ", "you are the x "]


@pytest.mark.parametrize("piece", NONSENSE)
def test_pasted_nonsense_is_read_in_bounded_time(piece):
    facts_of(piece * 5_000 + "I live in Graz.", SAID_ON)


def test_a_template_for_training_models_is_nobodys_own_words():
    template = "### Instruction:\nMy name is Jack and I live in Tortuga.\n### Response:"
    today = date(2026, 3, 4)
    assert facts_of(template, today) == []
    assert facts_of(f"I live in Graz.\n{template}", today) == ["Lives in Graz"]
    assert facts_of("### My instructions\nI live in Graz.", today) == ["Lives in Graz"]
