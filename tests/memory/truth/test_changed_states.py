"""A new state closes the one it contradicts: one is current, the other is found in the past."""

import pytest

from tests.memory.truth.conftest import BEGIN, DAY, model_that

TOLD = [  # said first, said later, what is current then, what was before
    ("I am single.", "I am married now.", "Is married", "Is single"),
    ("I am single.", "I got married yesterday.", "Got married on 2026-03-04", "Is single"),
    ("I'm married.", "I am single again.", "Is single", "Is married"),
    ("I am married to Tom.", "I got divorced.", "Got divorced", "Is married to Tom"),
    (
        "I am allergic to nuts.",
        "It turned out I am not allergic to nuts.",
        "Is not allergic to nuts",
        "Allergic to nuts",
    ),
    ("My wife is called Ana.", "My ex-wife is called Ana.", "Ex-wife is called Ana", "Wife is called Ana"),
    ("I am pregnant.", "I gave birth to a boy yesterday.", "Gave birth to a boy on 2026-03-04", "Is pregnant"),
    ("I am pregnant.", "Our baby was born yesterday.", "Baby was born on 2026-03-04", "Is pregnant"),
    ("My wife is pregnant.", "My wife gave birth to twins.", "Wife gave birth to twins", "Wife is pregnant"),
    ("I have a dog called Rex.", "Rex died yesterday.", "Rex died on 2026-03-04", "Has a dog called Rex"),
    ("I have a dog called Rex.", "My dog died yesterday.", "Dog died on 2026-03-04", "Has a dog called Rex"),
    ("My dog is called Rex.", "My dog Rex died.", "Dog Rex died", "Dog is called Rex"),
    ("I drink coffee.", "I drink tea, not coffee.", "Drinks tea, not coffee", "Drinks coffee"),
    ("I have two cats.", "I have three cats now.", "Has three cats", "Has two cats"),
    ("My daughter is six.", "My daughter is seven now.", "Daughter is seven", "Daughter is six"),
    ("My son is six years old.", "My son just turned seven.", "Son turned seven", "Son is six years old"),
    ("I am 34.", "I am 35 now.", "Is 35 years old", "Is 34 years old"),
    ("I live in Graz.", "I moved to Linz.", "Lives in Linz", "Lives in Graz"),
    ("I am vegetarian.", "I eat meat again.", "Eats meat", "Is vegetarian"),
    ("I love olives.", "I hate olives now.", "Hates olives", "Loves olives"),
    ("I work at Siemens.", "I quit my job.", "Quit job, no longer works there", "Works at Siemens"),
]  # fmt: skip

OTHER_LANGUAGES = {
    "home": [
        ("Ich wohne in Graz.", "Ich bin nach Linz gezogen."),
        ("J'habite à Lyon.", "J'ai déménagé à Nice."),
        ("Vivo en Madrid.", "Me mudé a Sevilla."),
        ("Abito a Roma.", "Mi sono trasferito a Milano."),
        ("Moro em Lisboa.", "Moro no Porto."),
        ("Ik woon in Utrecht.", "Ik ben naar Gent verhuisd."),
    ],
    "work": [
        ("Ich arbeite bei Siemens.", "Ich arbeite jetzt bei Bosch."),
        ("Je travaille chez Renault.", "Je travaille maintenant chez Airbus."),
        ("Trabajo en Seat.", "Ahora trabajo en Telefónica."),
        ("Lavoro come infermiera.", "Lavoro come insegnante."),
        ("Trabalho na TAP.", "Agora trabalho na Galp."),
        ("Ik werk bij Philips.", "Ik werk nu bij Shell."),
    ],
    "name": [
        ("Ich heiße Anna.", "Ich heiße Eva."),
        ("Je m'appelle Anna.", "Je m'appelle Eva."),
        ("Me llamo Ana.", "Me llamo Eva."),
        ("Mi chiamo Anna.", "Mi chiamo Eva."),
        ("Chamo-me Ana.", "Chamo-me Eva."),
        ("Ik heet Anna.", "Ik heet Eva."),
    ],
    "age": [
        ("Ich bin 34 Jahre alt.", "Ich bin 35."),
        ("J'ai 34 ans.", "J'ai 35 ans."),
        ("Tengo 34 años.", "Tengo 35 años."),
        ("Ho 34 anni.", "Ho 35 anni."),
        ("Tenho 34 anos.", "Tenho 35 anos."),
        ("Ik ben 34 jaar oud.", "Ik ben 35 jaar."),
    ],
    "married": [
        ("Ich bin Single.", "Ich habe gestern geheiratet."),
        ("Je suis célibataire.", "Je me suis marié hier."),
        ("Soy soltero.", "Me casé ayer."),
        ("Sono single.", "Mi sono sposato ieri."),
        ("Sou solteiro.", "Casei-me ontem."),
        ("Ik ben single.", "Ik ben gisteren getrouwd."),
    ],
    "likes": [
        ("Ich mag Käse.", "Ich mag keinen Käse mehr."),
        ("J'aime le fromage.", "Je n'aime plus le fromage."),
        ("Me gusta el queso.", "Ya no me gusta el queso."),
        ("Mi piace il formaggio.", "Odio il formaggio."),
        ("Gosto de queijo.", "Já não gosto de queijo."),
        ("Ik hou van kaas.", "Ik hou niet meer van kaas."),
    ],
}
WRITTEN_BY_A_MODEL = [
    ("Lebt in Graz", "Lebt jetzt in Linz"),
    ("Habite à Lyon", "Habite à Nice"),
    ("Vive en Madrid", "Vive ahora en Sevilla"),
    ("Abita a Roma", "Abita a Milano"),
    ("Mora em Lisboa", "Mora em Faro"),
    ("Woont in Utrecht", "Woont in Gent"),
    ("Arbeitet bei Siemens", "Arbeitet bei Bosch"),
    ("Travaille comme infirmière", "Travaille comme professeur"),
    ("Se llama Ana", "Se llama Eva"),
    ("Ha 34 anni", "Ha 35 anni"),
    ("É solteira", "É casada"),
    ("Is vrijgezel", "Is getrouwd"),
    ("Mag Käse", "Mag keinen Käse mehr"),
    ("Aime le fromage", "N'aime plus le fromage"),
    ("Le gusta el queso", "Ya no le gusta el queso"),
    ("Gosta de queijo", "Não gosta mais de queijo"),
    ("Houdt van kaas", "Haat kaas"),
]
PAIRS = [pair for pairs in OTHER_LANGUAGES.values() for pair in pairs]
NEIGHBOURS = [
    "I row every morning.",
    "I have a garden.",
    "I speak Spanish.",
    "I collect stamps.",
    "My boss is called Ida.",
]


@pytest.mark.parametrize(("first", "later", "current", "before"), TOLD)
async def test_without_a_model_a_new_state_takes_the_place_of_the_old_one(live, first, later, current, before):
    life = live()
    await life.tell(first)
    await life.tell(later)
    assert (await life.now(), await life.at(BEGIN + DAY / 2)) == ([current], [before])


@pytest.mark.parametrize("event", ["UPDATE", "DELETE"])
@pytest.mark.parametrize(
    ("current", "before"), [*(row[2:] for row in TOLD), *(pair[::-1] for pair in WRITTEN_BY_A_MODEL)]
)
async def test_a_models_decision_for_the_new_state_is_followed(live, event, current, before):
    life = live(model_that(event))
    await life.tell(before)
    await life.tell(current)
    assert (await life.now(), await life.at(BEGIN + DAY / 2)) == ([current], [before])


async def test_a_new_state_finds_the_old_one_among_other_memories(live):
    life = live()
    for text in ["I am single.", *NEIGHBOURS]:
        await life.tell(text)
    await life.tell("I got married yesterday.")
    assert [text for text in await life.now() if "single" in text or "married" in text] == [
        "Got married on 2026-03-09"
    ]


@pytest.mark.parametrize(("first", "later"), PAIRS)
async def test_in_six_other_languages_too(live, first, later):
    life = live()
    await life.tell(first)
    before = await life.now()
    await life.tell(later)
    current = await life.now()
    assert (len(before), len(current)) == (1, 1)
    assert current != before
    assert await life.at(BEGIN + DAY / 2) == before


async def test_what_else_a_memory_tells_stays_when_one_of_its_claims_is_closed(live):
    life = live(model_that("UPDATE"))
    await life.tell("Lives in Graz and has a dog called Rex")
    await life.tell("Lives in Linz")
    assert await life.now() == ["Lives in Linz; has a dog called Rex"]
