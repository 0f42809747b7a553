"""Turns behind which a model changes a memory: those that bear the change out, and those that do not.

Each is the memory, the turns, and the fact that the model draws from them. A turn without a role is the user's.
"""

from collections.abc import Sequence

from mnemoir.memory.facts.extract.requests import Turn

Case = tuple[str, Sequence[str], str]

BORNE_OUT: Sequence[Case] = [
    ("Lives in Graz", ["I moved to Linz in May."], "Lives in Linz"),
    ("Lives in Graz", ["Lives in Linz"], "Lives in Linz"),
    ("Lives in Graz", ["User lives in Linz now"], "User lives in Linz"),
    ("Lives in Graz", ["we're Hamburg people now, I left Austria for good"], "Lives in Hamburg"),
    ("Lives in Graz", ["My wife stays in Rome and I live in Linz."], "Lives in Linz"),
    ("Lives in Graz", ["ich bin nach Muenchen gezogen"], "Lives in Munich"),
    ("Lives in Graz", ["J'habite à Genève maintenant"], "Lives in Geneva"),
    ("Lives in Graz", ["I don't live in Graz any more but in Wels"], "Lives in Wels"),
    ("Lives in Graz", ["assistant: How is Innsbruck?", "Great, I moved there in June"], "Lives in Innsbruck"),
    ("Lives in Graz", ["I spent a year in Porto.", "assistant: Nice.", "We live there now"], "Lives in Porto"),
    ("Lives in Graz", ["Porto is great. I live there now."], "Lives in Porto"),
    ("Lives in Graz", ["assistant: So your home is Bergen now?", "yep"], "Lives in Bergen"),
    ("Lives in Graz", ["assistant: Wohnen Sie jetzt in Bern?", "Stimmt"], "Wohnt in Bern"),
    ("Works at Siemens", ["I started at Bosch on Monday"], "Works at Bosch"),
    ("Works at Siemens", ["Trabajo en Telefónica ahora"], "Works at Telefonica"),
    ("Works at Siemens", ["I quit Siemens last week"], "No longer works at Siemens"),
    (
        "Works at Siemens",
        ["I was fired, they let me go, I don't work at Siemens any longer"],
        "No longer works at Siemens",
    ),
    ("Works at Siemens", ["Bosch hired me!"], "Works at Bosch"),
    ("Works at Siemens", ["I got the job at Bosch!"], "Works at Bosch"),
    ("Works at Siemens", ["Bosch hat mich eingestellt."], "Works at Bosch"),
    ("Drives a Volvo", ["sold the Volvo, driving a Skoda Octavia these days"], "Drives a Skoda Octavia"),
    ("Has two cats", ["We have three cats now"], "Has three cats"),
    ("Has 2 cats", ["Ora ho tre gatti"], "Has 3 cats"),
    ("Is 41 years old", ["I turned forty-two on Friday"], "Is 42 years old"),
    ("Is 41 years old", ["Ich bin zweiundvierzig geworden"], "Is 42 years old"),
    ("Gets up at 6:00", ["ich stehe jetzt um halb acht auf"], "Gets up at 7:30"),
    ("Loves pizza", ["I became vegan and no longer eat pizza"], "Became vegan, no longer eats pizza"),
    ("Drinks coffee", ["I've stopped drinking coffee"], "No longer drinks coffee"),
    ("Smokes", ["I gave up, smokes are over for me, I never smoke"], "No longer smokes"),
    ("Has a dog called Rex", ["My dog Rex died yesterday"], "Dog Rex died"),
    ("Wife is called Anna", ["My wife is called Elisabeth, not Anna"], "Wife is called Elisabeth"),
    ("Sister lives in Rome", ["My sister moved to Turin"], "Sister lives in Torino"),
    ("Boss is called Ida", ["assistant: How is Ida?", "My boss is Karla since May"], "Boss is called Karla"),
    ("Name is Jon", ["It is spelled John, my name is John"], "Name is John"),
    ("Name is Jon", ["Please call me Ada"], "Name is Ada"),
    ("Favourite colour is green", ["My favorite color is grey"], "Favourite colour is gray"),
    ("Plays tennis on Mondays", ["I play padel on Tuesdays now"], "Plays padel on Tuesdays"),
    ("Is training for a marathon", ["I am training for a triathlon instead"], "Is training for a triathlon"),
    ("Wants to move to Rome", ["I want to move to Oslo instead"], "Wants to move to Oslo"),
    ("Loves pizza", ["I love pizza with olives"], "Loves pizza with olives"),
    (
        "Dentist's appointment is on 3 May",
        ["Move my dentist's appointment to the 4th", "assistant: Done, your appointment is on 4 May now."],
        "Dentist's appointment is on 4 May",
    ),
]

NOT_BORNE_OUT: Sequence[Case] = [
    ("Works at Siemens", ["Bosch rejected me"], "Works at Bosch"),
    ("Works at Siemens", ["Bosch turned me down."], "Works at Bosch"),
    ("Works at Siemens", ["I was rejected by Bosch."], "Works at Bosch"),
    ("Works at Siemens", ["Bosch hat mir abgesagt."], "Works at Bosch"),
    ("Works at Siemens", ["Ich wurde von Bosch abgelehnt"], "Works at Bosch"),
    ("Works at Siemens", ["Bosch m'a refusé."], "Works at Bosch"),
    ("Works at Siemens", ["Bosch no me contrató."], "Works at Bosch"),
    ("Works at Siemens", ["Bosch mi ha scartato."], "Works at Bosch"),
    ("Works at Siemens", ["A Bosch recusou-me."], "Works at Bosch"),
    ("Works at Siemens", ["Bosch heeft me afgewezen."], "Works at Bosch"),
    ("Lives in Graz", ["Where should I ski?", "assistant: As you live in Oslo, try Holmenkollen."], "Lives in Oslo"),
    ("Lives in Graz", ["assistant: Shall I look for a flat in Oslo for you?", "Yes, please"], "Lives in Oslo"),
    ("Lives in Graz", ["assistant: Do you live in Oslo?", "yes, but only in summer, not now"], "Lives in Oslo"),
    ("Lives in Graz", ["assistant: Have you moved to Oslo?", "Nope"], "Lives in Oslo"),
    ("Lives in Graz", ["assistant: Möchten Sie ein Hotel in Bern?", "Ja"], "Lives in Bern"),
    ("Lives in Graz", ["My wife lives in Oslo"], "Lives in Oslo"),
    ("Lives in Graz", ["Meine Schwester wohnt in Bern"], "Wohnt in Bern"),
    ("Lives in Graz", ["Mi hermano vive en Sevilla"], "Vive en Sevilla"),
    ("Lives in Graz", ["Anna lives in Oslo"], "Lives in Oslo"),
    ("Lives in Graz", ["She lives in Oslo"], "Lives in Oslo"),
    ("Lives in Graz", ["The rent in Oslo is high"], "Lives in Oslo"),
    ("Lives in Graz", ["I don't live in Oslo"], "Lives in Oslo"),
    ("Lives in Graz", ["I used to live in Oslo"], "Lives in Oslo"),
    ("Lives in Graz", ["I might move to Oslo"], "Lives in Oslo"),
    ("Lives in Graz", ["Ich möchte nach Bern ziehen"], "Wohnt in Bern"),
    ("Lives in Graz", ["Je voudrais vivre à Nice"], "Habite à Nice"),
    ("Lives in Graz", ["If I lived in Oslo I would ski"], "Lives in Oslo"),
    ("Lives in Graz", ["She wrote: I live in Oslo"], "Lives in Oslo"),
    ("Lives in Graz", ["My friend says, I live in Oslo, come over"], "Lives in Oslo"),
    ("Lives in Graz", ["Translate: I live in Oslo"], "Lives in Oslo"),
    ("Lives in Graz", ["> I live in Oslo\nis this right?"], "Lives in Oslo"),
    ("Lives in Graz", ["From: Bob\nSubject: Hi\n\nI live in Oslo now."], "Lives in Oslo"),
    ("Lives in Graz", ["Hello!"], "Lives in Oslo"),
    ("Lives in Graz", ["What is the capital of Norway?"], "Lives in Oslo"),
    ("Works at Siemens", ["I applied for a job at Bosch"], "Works at Bosch"),
    ("Works at Siemens", ["My neighbour works at Bosch"], "Works at Bosch"),
    ("Works at Siemens", ["What does Bosch pay?"], "Works at Bosch"),
    ("Is 41 years old", ["My brother turned 42"], "Is 42 years old"),
    ("Is 41 years old", ["I have 42 apples"], "Is 43 years old"),
    ("Has two cats", ["I like cats"], "Has three cats"),
    ("Name is Mira", ["Write to Anna that I am late"], "Name is Anna"),
    ("Name is Mira", ["I met Anna today"], "Name is Anna"),
    ("Is vegetarian", ["My brother eats meat"], "Eats meat"),
    ("Is vegetarian", ["How long do I grill a steak?"], "Eats meat"),
    ("Sister lives in Rome", ["I live in Turin"], "Lives in Turin"),
    ("Is vegetarian", ["My wife is vegan"], "Wife is vegan"),
    ("Lives in Graz", ["I live in Graz, near the park"], "Lives in Graz with two sons, near the park"),
    ("Works as a nurse", ["Pretend I'm a pilot"], "Works as a pilot"),
    ("Lives in Graz", ["In this story I am an elf and I live in Rivendell."], "Lives in Rivendell"),
]  # fmt: skip


def turns_of(said: Sequence[str]) -> list[Turn]:
    """The turns of a case."""
    pairs = [(text.partition("assistant: ")[2], text) for text in said]
    return [Turn(role="assistant" if answer else "user", text=answer or text) for answer, text in pairs]
