"""Extraction of facts by the offline model, from sentences said on Wednesday, 4 March 2026."""

from datetime import date

import pytest

from mnemoir.providers.llm.offline.extract import extract, facts_of
from tests.stages import staged

SAID_ON = date(2026, 3, 4)

TELLING = [
    ("Hi, I'm Alex. I'm a vegetarian and allergic to nuts.", ["Name is Alex", "Is vegetarian", "Allergic to nuts"]),
    ("I moved to Graz and I row every morning.", ["Lives in Graz", "Rows every morning"]),
    (
        "My name is Mira Novak, I'm 34 and I live in Vienna.",
        ["Name is Mira Novak", "Is 34 years old", "Lives in Vienna"],
    ),
    ("Please call me Al.", ["Goes by Al"]),
    ("I'm from Portugal.", ["From Portugal"]),
    ("I'm Brazilian.", ["Is Brazilian"]),
    ("My pronouns are they/them.", ["Pronouns are they/them"]),
    (
        "I'm vegan, lactose intolerant and allergic to peanuts and shellfish.",
        ["Is vegan", "Is lactose intolerant", "Allergic to peanuts and shellfish"],
    ),
    ("I was diagnosed with type 2 diabetes last month.", ["Diagnosed with type 2 diabetes in February 2026"]),
    ("I'm pregnant with our second child.", ["Is pregnant with second child"]),
    ("I have celiac disease.", ["Has celiac disease"]),
    ("I have a nut allergy.", ["Has a nut allergy"]),
    ("I work at Siemens as a lead engineer.", ["Works at Siemens as a lead engineer"]),
    ("I'm a nurse at the city hospital.", ["Is a nurse at the city hospital"]),
    ("I just got a new job at Red Bull.", ["Works at Red Bull"]),
    ("I no longer work at Siemens.", ["No longer works at Siemens"]),
    ("I quit my job.", ["Quit job, no longer works there"]),
    ("I lost my job last week.", ["Lost job in the week of 2026-02-23, no longer works there"]),
    ("I'm the CTO of a small startup.", ["Is the CTO of a small startup"]),
    ("My wife Anna is a teacher.", ["Wife Anna is a teacher"]),
    ("My wife is called Anna.", ["Wife is called Anna"]),
    ("My dog's name is Rex.", ["Dog is called Rex"]),
    ("I have two kids and a dog called Rex.", ["Has two kids and a dog called Rex"]),
    ("My daughter Lena was born in 2020.", ["Daughter Lena was born in 2020"]),
    ("My sister lives in Oslo.", ["Sister lives in Oslo"]),
    ("I live in Graz and work at a bank.", ["Lives in Graz", "Works at a bank"]),
    ("I moved from Vienna to Graz last month.", ["Lives in Graz since February 2026, moved from Vienna"]),
    ("I grew up in a small village near Linz.", ["Grew up in a small village near Linz"]),
    ("I was born in 1990 in Prague.", ["Born in 1990 in Prague"]),
    ("I want to learn Spanish this year.", ["Wants to learn Spanish in 2026"]),
    ("I'm planning to visit Japan in May.", ["Planning to visit Japan in May"]),
    ("I hope to run a marathon next year.", ["Hopes to run a marathon in 2027"]),
    ("My goal is to save 10,000 euros.", ["Goal is to save 10,000 euros"]),
    ("I usually drink tea in the morning.", ["Usually drinks tea in the morning"]),
    ("Every Sunday I bake bread.", ["Bakes bread every Sunday"]),
    ("I go swimming twice a week.", ["Goes swimming twice a week"]),
    ("I never eat breakfast.", ["Never eats breakfast"]),
    ("I speak German, English and a little Italian.", ["Speaks German, English and a little Italian"]),
    ("I can play the piano.", ["Can play the piano"]),
    ("I can't swim.", ["Cannot swim"]),
    ("I know Python and Rust.", ["Knows Python and Rust"]),
    ("I'm building a mobile app for gardeners.", ["Building a mobile app for gardeners"]),
    ("I'm working on a novel about bees.", ["Working on a novel about bees"]),
    ("Yesterday I ran my first marathon.", ["Ran first marathon on 2026-03-03"]),
    ("I have a dentist appointment tomorrow at 3.", ["Has a dentist appointment on 2026-03-05 at 3"]),
    ("I'm flying to Rome next week.", ["Flying to Rome in the week of 2026-03-09"]),
    ("My birthday is on May 3rd.", ["Birthday is on May 3rd"]),
    ("I drive a Tesla.", ["Drives a Tesla"]),
    ("Remember that my wifi network is called Heron.", ["Wifi network is called Heron"]),
    ("Please remember I prefer window seats.", ["Prefers window seats"]),
    ("I am a vegetarian and allergic to nuts. Please remember that.", ["Is vegetarian", "Allergic to nuts"]),
    ("I have celiac disease. Don't forget it please!", ["Has celiac disease"]),
    ("Remember that that seat is mine.", ["That seat is mine"]),
    ("Don't forget that I am allergic to penicillin.", ["Allergic to penicillin"]),
    ("Note: I hate coriander.", ["Hates coriander"]),
    ("I love hiking in the mountains.", ["Loves hiking in the mountains"]),
    ("I really enjoy jazz and classical music.", ["Enjoys jazz and classical music"]),
    ("I don't eat meat.", ["Doesn't eat meat"]),
    ("I don't like cilantro.", ["Doesn't like cilantro"]),
    ("I can't stand olives.", ["Cannot stand olives"]),
    ("I'm no longer vegetarian.", ["No longer vegetarian"]),
    ("I'm not vegetarian anymore.", ["No longer vegetarian"]),
    ("I became vegan last year.", ["Became vegan in 2025"]),
    ("I stopped smoking two years ago.", ["Stopped smoking in 2024"]),
    ("I prefer tea over coffee.", ["Prefers tea over coffee"]),
    ("My favourite colour is green.", ["Favourite colour is green"]),
    ("My favorite food is ramen.", ["Favourite food is ramen"]),
    ("I'm left-handed.", ["Is left-handed"]),
    ("I'm married to Tom.", ["Is married to Tom"]),
    ("I got married last summer.", ["Got married last summer"]),
    ("I'm retired.", ["Is retired, no longer works"]),
    ("I used to live in Berlin.", ["Used to live in Berlin"]),
    ("I'm afraid of spiders.", ["Afraid of spiders"]),
    ("I'm learning Japanese.", ["Learning Japanese"]),
    ("I've been living in Graz for ten years.", ["Has been living in Graz for ten years"]),
    ("I collect vintage cameras.", ["Collects vintage cameras"]),
    ("I support Arsenal.", ["Supports Arsenal"]),
    ("I run a small bakery in Linz.", ["Runs a small bakery in Linz"]),
    ("I bought a house in 2019.", ["Bought a house in 2019"]),
    ("I adopted a cat named Miso.", ["Adopted a cat named Miso"]),
    ("I studied physics at TU Wien.", ["Studied physics at TU Wien"]),
    ("I graduated from MIT in 2012.", ["Graduated from MIT in 2012"]),
    ("I'm training for a triathlon.", ["Training for a triathlon"]),
    ("I'm allergic to cats, so what pet should I get?", ["Allergic to cats"]),
    ("im vegetarian and i live in paris", ["Is vegetarian", "Lives in paris"]),
    ("I have asthma.", ["Has asthma"]),
    ("I wear glasses.", ["Wears glasses"]),
    ("I don't drink alcohol anymore.", ["No longer drinks alcohol"]),
    ("My job is teaching math.", ["Job is teaching math"]),
    ("I'm a software developer and my husband is a chef.", ["Is a software developer", "Husband is a chef"]),
    ("I turned 40 yesterday.", ["Is 40 years old"]),
    ("We have three children.", ["Has three children"]),
    ("I'm Alex, a nurse from Linz.", ["Name is Alex", "Is a nurse from Linz"]),
    ("I hate mushrooms but I love truffles.", ["Hates mushrooms", "Loves truffles"]),
    ("I'm 29 years old, from Chile.", ["Is 29 years old", "From Chile"]),
    ("My name's Tom.", ["Name is Tom"]),
    ("I have two sisters and a brother.", ["Has two sisters and a brother"]),
    ("I can't eat gluten.", ["Cannot eat gluten"]),
    ("I don't smoke.", ["Doesn't smoke"]),
    ("Every morning I meditate for ten minutes.", ["Meditates for ten minutes every morning"]),
    ("My cat is called Luna.", ["Cat is called Luna"]),
    ("My hobbies are climbing and chess.", ["Hobbies are climbing and chess"]),
    ("I volunteer at an animal shelter on weekends.", ["Volunteers at an animal shelter on weekends"]),
    ("We moved to Lisbon in 2021.", ["Lives in Lisbon since 2021"]),
    ("I'm a big fan of jazz.", ["Is a big fan of jazz"]),
    ("Keep in mind that I'm colour-blind.", ["Is colour-blind"]),
    ("On Mondays I play tennis.", ["Plays tennis on Mondays"]),
    ("I know how to sail.", ["Knows how to sail"]),
    ("We are planning to buy a house.", ["Plans to buy a house"]),
    ("I'm saving for a motorbike.", ["Saving for a motorbike"]),
    ("I teach biology at a high school.", ["Teaches biology at a high school"]),
    ("I was raised in Ghana.", ["Was raised in Ghana"]),
    ("I gave up coffee.", ["Gave up coffee"]),
    ("I'm the youngest of five siblings.", ["Is the youngest of five siblings"]),
    ("Well, actually I'm Dutch.", ["Is Dutch"]),
    ("Thanks! By the way, I hate Mondays.", ["Hates Mondays"]),
    ("I drive an old Volvo.", ["Drives an old Volvo"]),
    ("We own two canoes.", ["Owns two canoes"]),
    ("Call me Bob, not Robert.", ["Goes by Bob"]),
    ("Always call me Sam.", ["Goes by Sam"]),
    (
        "From now on, please answer me in metric units.",
        ["Wants the assistant to answer them in metric units"],
    ),
    ("Please reply in German from now on.", ["Wants the assistant to reply in German"]),
    ("Please never address me as sir.", ["Wants the assistant to never address them as sir"]),
    ("I'm flying to Lisbon on 3 August.", ["Flying to Lisbon on 3 August"]),
    ("We are getting married in June.", ["Getting married in June"]),
    ("We're moving to Graz in 2027.", ["Moving to Graz in 2027"]),
    ("Sorry, I meant my daughter is seven, not six.", ["Daughter is seven, not six"]),
]

IDLE = [
    "Hi there!",
    "Hello, how are you?",
    "I'm fine, thanks.",
    "I'm sure.",
    "I'm not sure.",
    "I think so.",
    "I don't know.",
    "I don't think that works.",
    "What should I keep in mind when cooking for me?",
    "Can you recommend a book?",
    "Could you tell me where I live?",
    "Do I like pizza?",
    "If I were a vegetarian, I would eat tofu.",
    "Imagine I'm a pirate.",
    "I wish I lived in Paris.",
    'He said "I live in Paris".',
    'She told me "I am a doctor and I love tea."',
    "I want to know how this works.",
    "I want you to write a poem.",
    "I'd like to see more examples.",
    "I have a question.",
    "I have an idea.",
    "I need help with my code.",
    "I'm trying to fix a bug.",
    "I'm getting an error when I run this.",
    "I get this error every day.",
    "Thanks, that's great!",
    "I like it.",
    "I love this answer.",
    "I like the second option.",
    "I don't like that.",
    "I don't want to talk about it.",
    "I'm sorry.",
    "I'm tired.",
    "I'm back.",
    "I'm looking for a good restaurant.",
    "I'm wondering whether it will rain.",
    "I was thinking about it.",
    "I see.",
    "I agree with you.",
    "The weather is nice today.",
    "My code doesn't work.",
    "My friend said she would come.",
    "Write a poem about a man who lives in Rome.",
    "Let's say I'm 50 years old.",
    "Pretend you are my boss.",
    "I have to go.",
    "I'm done.",
    "I'm happy with that.",
    "I'm a bit confused.",
    "Yes, please.",
    "No, I mean the other one.",
    "I forgot.",
    "I'm not hungry.",
    "Remember to be concise.",
    "Don't forget to add tests.",
    "I can't open the file.",
    "I can't see it.",
    "I tried that yesterday.",
    "I will try it tomorrow.",
    "`I live in code`",
    "> I live in a quote",
    "Say I am a nurse. What would I earn?",
    "I asked you yesterday.",
    "I hope you are well.",
    "I'm going to try this now.",
    "I used it yesterday.",
    "I guess I am lost.",
    "I drive a hard bargain.",
    "Please answer in one sentence.",
    "Always check the result.",
    "I'm going to the shop.",
    "We are getting an error.",
]


def test_a_statement_about_oneself_becomes_a_fact():
    assert {sentence: facts_of(sentence, SAID_ON) for sentence, _ in TELLING} == dict(TELLING)


def test_small_talk_questions_and_hypothetical_sentences_give_no_fact():
    assert [sentence for sentence in IDLE if facts_of(sentence, SAID_ON)] == []


def test_only_user_messages_give_facts():
    turns = [
        {"role": "assistant", "text": "I live in a data centre. You told me that you are vegan."},
        {"role": "user", "text": "I live in Graz."},
        {"role": "system", "text": "I am allergic to jokes."},
    ]
    assert extract({"conversation_date": "2026-03-04T09:00:00.000Z", "turns": turns}) == {"facts": ["Lives in Graz"]}


def test_a_fact_said_twice_is_one_fact():
    turns = [{"role": "user", "text": text} for text in ("I'm vegan.", "As I said, I am vegan!")]
    assert extract({"conversation_date": "2026-03-04", "turns": turns}) == {"facts": ["Is vegan"]}


def test_within_one_conversation_the_later_statement_wins():
    said = ("I live in Graz. I love olives.", "I moved to Berlin and I hate olives.")
    turns = [{"role": "user", "text": text} for text in said]
    assert extract({"conversation_date": "2026-03-04", "turns": turns}) == {
        "facts": ["Lives in Berlin", "Hates olives"]
    }


def test_relative_dates_count_from_the_conversation():
    turns = [{"role": "user", "text": "Yesterday I ran my first marathon."}]
    document = {"conversation_date": "2019-01-01T08:00:00.000Z", "turns": turns}
    assert extract(document) == {"facts": ["Ran first marathon on 2018-12-31"]}


def test_a_very_long_turn_is_read_in_bounded_time():
    assert facts_of("I am vegan. " + "and I like " * 3_000, SAID_ON)[0] == "Is vegan"


@pytest.mark.parametrize(
    "piece",
    staged(
        ["I live and work and ", "I am very ", "really ", "my little ", "every ", '"', "(", "hi ", "1", "- I\n"],
        quick=2,
    ),
)
def test_nonsense_of_any_kind_is_read_in_bounded_time(piece):
    facts_of(("I " + piece * 20_000)[:32_000], SAID_ON)
