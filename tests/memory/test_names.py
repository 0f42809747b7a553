"""Names in statements of seven languages, and in questions about them."""

import pytest

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory
from mnemoir.memory.names.reading import names_of, possible_names, words_by_key
from mnemoir.search.links.name_keys import Mode, keys_in, modes_in, unpack_names


def modes(text, **more):
    """The names of a statement, as written, with how it mentions them."""
    memory = Memory(id=MemoryId("m"), text=text, user="mira", created_at="2026-01-21T10:30:00.000Z", **more)
    names, words = unpack_names(names_of(memory)), words_by_key(text)
    pairs = zip(keys_in(names).tolist(), modes_in(names).tolist(), strict=True)
    return {words[key]: Mode(mode) for key, mode in pairs}


def names(text):
    """What is surely a name."""
    return {word for word, mode in modes(text).items() if mode == Mode.NAME}


NAMED = {
    "Sister is called Anna": {"Sister", "Anna"},
    "Anna works at Brightwell": {"Brightwell"},
    "Has a dog called Rex": {"dog", "Rex"},
    "Has a cat named miso": {"cat", "miso"},
    "Dentist is Dr. Weber": {"Dentist", "Weber"},
    "Moved to New York with Tom O'Hara": {"New", "York", "Tom", "O'Hara"},
    "Shares an office with Anna's brother": {"Anna"},
    "Schwester heißt Anna": {"Schwester", "Anna"},
    "Arbeitet bei Norlin in Graz": {"Norlin", "Graz"},
    "Der Hund heißt Bello": {"Hund", "Bello"},
    "Die Zahnärztin heißt Frau Berger": {"Zahnärztin", "Berger"},
    "La sœur s'appelle Léa": {"sœur", "Léa"},
    "Le voisin travaille chez Norlin à Lyon": {"voisin", "Norlin", "Lyon"},
    "La hermana se llama Lucía": {"hermana", "Lucía"},
    "El perro se llama Toby": {"perro", "Toby"},
    "La sorella si chiama Giulia": {"sorella", "Giulia"},
    "Il capo vive a Torino": {"capo", "Torino"},
    "A irmã chama-se Inês": {"irmã", "Inês"},
    "O vizinho trabalha na Norlin": {"vizinho", "Norlin"},
    "De zus heet Fleur": {"zus", "Fleur"},
    "De baas werkt bij Norlin in Gent": {"baas", "Norlin", "Gent"},
}


@pytest.mark.parametrize("text", NAMED)
def test_names_stand_inside_sentences_behind_naming_shapes_and_as_kin(text):
    assert names(text) == NAMED[text]


NOT_NAMED = [
    "Likes strong coffee in the morning",
    "Plays tennis on Thursdays and in May",
    "Geht am Montag und im Januar schwimmen",
    "Fait du sport le Lundi",
    "Mail address is [EMAIL_1], and [PERSON_12] has it",
    "Writes to mira@Example.com and www.Example.com and https://Example.com/Anna",
    "The key of the server is sk-proj-Abc4Def5Ghi6Jkl7Mno8Pqr9",
    "Drives a B2B and an X12",
    "I am here and I'm fine, I've said",
]


@pytest.mark.parametrize("text", NOT_NAMED)
def test_dates_placeholders_addresses_secrets_and_the_user_are_no_names(text):
    assert names(text) == set()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Name is Alex", "Alex"),
        ("User is called Alex", "Alex"),
        ("The user's name is Alex Winter", "Alex"),
        ("My name is Alex", "Alex"),
        ("Ich heiße Alex", "Alex"),
        ("Je m'appelle Léa", "Léa"),
        ("Me llamo Lucía", "Lucía"),
        ("Mi chiamo Giulia", "Giulia"),
        ("Chamo-me Inês", "Inês"),
        ("Ik heet Fleur", "Fleur"),
        ("Lives in Graz. Goes by Sam", "Sam"),
    ],
)
def test_the_name_of_the_user_is_known_as_such(text, name):
    assert modes(text)[name] == Mode.USER


@pytest.mark.parametrize(
    "text",
    [
        "Anna's sister is a nurse in Graz",
        "Annas Schwester wohnt in Graz",
        "The sister of Anna lives in Graz",
        "La sœur d'Anna habite à Graz",
        "La hermana de Ana vive en Graz",
    ],
)
def test_kin_of_somebody_else_is_not_the_kin_of_the_user(text):
    assert not {"sister", "Schwester", "sœur", "hermana"} & names(text)


def test_a_word_at_the_beginning_of_a_sentence_is_only_perhaps_a_name():
    assert modes("Anna left. Works at Norlin") == {"Anna": Mode.FIRST, "Works": Mode.FIRST, "Norlin": Mode.NAME}
    assert set(modes("ANNA WORKS AT NORLIN").values()) == {Mode.FIRST}


def test_a_german_noun_is_a_name_behind_a_preposition_and_else_only_perhaps():
    found = modes("Hat das Projekt Kestrel bei Norlin übernommen")
    assert (found["Norlin"], found["Projekt"], found["Kestrel"]) == (Mode.NAME, Mode.NOUN, Mode.NOUN)
    assert modes("Hat am Abend ein kestrel gesehen")["kestrel"] == Mode.SMALL


def test_a_german_genitive_is_perhaps_the_name_without_it():
    assert modes("Annas Büro ist in Graz")["Anna"] == Mode.FIRST


def test_one_kin_has_one_name_in_all_languages():
    words = ("sister", "Schwester", "sœur", "hermana", "sorella", "irmã", "zus")
    keys = {key for word in words for key in possible_names(f"Where does my {word} work?")[:1]}
    assert len(keys & set(possible_names("Where does my sister work?"))) == 1


def test_statements_have_names_and_messages_of_conversations_none():
    of_message = {"kind": "message", "role": "user"}
    assert modes("Sister is called Anna", **of_message)
    assert not modes("Sister is called Anna", conversation="c1", **of_message)
    assert not modes("Sister is called Anna", speaker="Mira", **of_message)
    assert not modes("Sister is called Anna", kind="message", role="assistant")
    assert modes("Sister is called Anna", conversation="c1")


def test_a_question_in_small_letters_may_mean_any_of_its_words_and_one_with_capitals_those_alone():
    (anna,) = set(possible_names("Is Anna there?")) & set(possible_names("Anna"))
    assert anna in possible_names("where does anna work?")
    assert anna not in possible_names("Which anna works at Norlin?")
    assert anna in possible_names("Wo ist Annas Arbeit?")


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        '"' * 100_000,
        "(" * 100_000,
        "Name: " * 20_000,
        "@" + "a" * 100_000,
        "called " * 15_000,
        "is also " * 12_000 + "called Anna",
        "A" + "'" * 99_000,
        "Anna " * 20_000,
        "1a" * 50_000,
    ],
)
def test_a_hundred_thousand_characters_of_anything_are_read_within_the_time_of_a_case(text):
    assert len(modes(text)) < 50
    assert len(possible_names(text)) < 50
