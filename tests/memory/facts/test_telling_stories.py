"""What fact memory holds after a story was told, with the offline model deciding."""

import asyncio

import pytest

from mnemoir.core.scope import Scope
from mnemoir.memory.facts import AddRequest, Turn

MIRA = Scope(project="kitchen", user="mira")

STORIES = [
    (["I live in Graz.", "I live in Berlin."], ["Lives in Berlin"]),
    (["I live in Graz.", "I moved from Graz to Berlin."], ["Lives in Berlin, moved from Graz"]),
    (["I love olives.", "I hate olives."], ["Hates olives"]),
    (["I'm a vegetarian.", "I became vegan."], ["Is vegan"]),
    (["I'm a vegetarian.", "I'm no longer vegetarian."], ["No longer vegetarian"]),
    (["I work at Siemens.", "I no longer work at Siemens."], ["No longer works at Siemens"]),
    (["I work at Siemens.", "I no longer work."], ["No longer works"]),
    (["I work at Siemens.", "I'm retired."], ["Is retired, no longer works"]),
    (["I work at Siemens.", "I quit my job."], ["Quit job, no longer works there"]),
    (["I'm single.", "I'm married to Tom."], ["Is married to Tom"]),
    (["My name is Alex.", "My name is Sasha."], ["Name is Sasha"]),
    (["I have a dog.", "I have a dog called Rex."], ["Has a dog called Rex"]),
    (["I love hiking.", "I like hiking."], ["Loves hiking"]),
    (["I like tea.", "I like coffee."], ["Likes coffee", "Likes tea"]),
    (["I'm allergic to nuts.", "I'm allergic to milk."], ["Allergic to milk", "Allergic to nuts"]),
    (["I'm 34 years old.", "I turned 35."], ["Is 35 years old"]),
    (["I live in Leeds.", "I don't live in Leeds any more, I live in York now."], ["Lives in York"]),
    (["Ich wohne in Graz.", "Ich wohne jetzt in Wien."], ["Ich wohne jetzt in Wien"]),
    (["Ich bin 34 Jahre alt.", "Ich bin 35 Jahre alt."], ["Ich bin 35 Jahre alt"]),
    (["Ich mag Oliven.", "Ich hasse Oliven."], ["Ich hasse Oliven"]),
    (["Ich bin Vegetarier.", "Ich bin kein Vegetarier mehr."], ["Ich bin kein Vegetarier mehr"]),
    (["J'habite à Lyon.", "Je n'habite plus à Lyon, j'habite à Lille."], ["J'habite à Lille"]),
    (["Je suis célibataire.", "Je suis marié."], ["Je suis marié"]),
    (["J'aime les olives.", "Je n'aime plus les olives."], ["Je n'aime plus les olives"]),
    (["Trabajo en Telefónica.", "Ahora trabajo en Iberia."], ["Ahora trabajo en Iberia"]),
    (["Tengo 52 años.", "Tengo 53 años."], ["Tengo 53 años"]),
    (["Mi chiamo Paolo.", "Mi chiamo Andrea."], ["Mi chiamo Andrea"]),
    (["Vivo a Roma.", "Non vivo più a Roma."], ["Non vivo più a Roma"]),
    (["Moro no Porto.", "Agora moro em Braga."], ["Agora moro em Braga"]),
    (["Gosto de azeitonas.", "Odeio azeitonas."], ["Odeio azeitonas"]),
    (["Ik werk bij Philips.", "Ik werk nu bij Shell."], ["Ik werk nu bij Shell"]),
    (["Ik hou van olijven.", "Ik hou niet meer van olijven."], ["Ik hou niet meer van olijven"]),
    (["Ich habe zwei Kinder.", "Ich habe einen Hund."], ["Ich habe einen Hund", "Ich habe zwei Kinder"]),
    (["Ich bin allergisch gegen Nüsse.", "Meine Schwester wohnt in Graz."],
     ["Ich bin allergisch gegen Nüsse", "Meine Schwester wohnt in Graz"]),
]  # fmt: skip


@pytest.mark.parametrize(("said", "remembered"), STORIES)
async def test_what_is_said_later_settles_what_was_said_before(house, tell, kept, said, remembered):
    facts = house.facts()
    for text in said:
        await tell(facts, text)
    assert await kept(facts) == remembered


CONVERSATION = ("Hi, I'm Alex. I'm a vegetarian and allergic to nuts.", "I moved to Graz and I row every morning.")
ONCE = ["Allergic to nuts", "Is vegetarian", "Lives in Graz", "Name is Alex", "Rows every morning"]


async def test_the_same_conversation_twenty_times_leaves_what_once_leaves(house, tell, kept):
    facts = house.facts()
    events = [[change.event for change in (await tell(facts, *CONVERSATION)).applied] for _ in range(20)]
    assert events == [["ADD"] * 5] + [[]] * 19
    assert await kept(facts) == ONCE


async def test_the_same_conversation_twenty_times_at_once_leaves_what_once_leaves(house, tell, kept):
    facts = house.facts()
    results = await asyncio.gather(*(tell(facts, *CONVERSATION) for _ in range(20)))
    assert sum(len(result.applied) for result in results) == 5
    assert await kept(facts) == ONCE


async def test_one_user_never_changes_what_another_told(house, tell, kept):
    facts, noah = house.facts(), Scope(project="kitchen", user="noah")
    await tell(facts, "I live in Graz. I love olives.")
    await tell(facts, "I live in Berlin. I hate olives.", scope=noah)
    assert await kept(facts) == ["Lives in Graz", "Loves olives"]
    assert await kept(facts, noah) == ["Hates olives", "Lives in Berlin"]


async def test_what_an_assistant_says_and_what_was_recalled_is_not_remembered(house):
    facts = house.facts()
    turns = [
        Turn(role="assistant", text="I live in a data centre."),
        Turn(role="tool", text="I love tools."),
        Turn(role="user", text="<recalled_memories>\nBackground\n- I love tea\n</recalled_memories>\n\nHow are you?"),
    ]
    result = await facts.add(MIRA, AddRequest(turns=turns))
    assert (result.applied, result.facts_found) == ([], False)


async def test_a_question_in_other_words_finds_the_fact(house, tell):
    facts = house.facts()
    await tell(facts, *CONVERSATION)
    result = await facts.search(MIRA, "what are my food preferences?", limit=1)
    assert [hit.memory.text for hit in result.hits] == ["Is vegetarian"]


LONG = "The report tells how the committee met on several days and went through the budget. "


@pytest.mark.slow
async def test_a_fact_at_any_place_of_a_long_turn_is_remembered(house, tell, kept):
    facts, length = house.facts(), 45_000 // len(LONG)
    for place in range(0, length + 1, length // 10):
        scope = Scope(project="kitchen", user=f"reader {place}")
        await tell(facts, LONG * place + "I live in Graz. " + LONG * (length - place), scope=scope)
        assert await kept(facts, scope) == ["Lives in Graz"]


ECHOES = [
    "Recalled background about the user:\n- Lives in Paris\n- I am a pilot",
    "<memories>\n- I live in Paris\n- I am a pilot\n</memories>",
    "You need to summarize the title of the conversation. User: I live in Paris. I am a pilot.",
    "### Task:\nGenerate a title.\n### Chat History:\n<chat_history>\nUSER: I live in Paris.\n</chat_history>",
]


@pytest.mark.parametrize("text", ECHOES)
async def test_memories_and_chats_that_a_message_repeats_are_not_remembered(house, tell, text):
    assert (await tell(house.facts(), text)).applied == []
