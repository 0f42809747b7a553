"""CPU time of reading facts out of what a user says, with the offline model: long texts and short turns.

Every text is new, with other names and numbers, since sentences that were read before are known. To compare with
another commit, run this module over its sources: `PYTHONPATH=OTHER/src python -m bench extraction`.
"""

import random
import time
from collections.abc import Callable
from pathlib import Path

from bench.report import median, ms, percentile, table
from mnemoir.memory.facts.extract.conversation import turns_for_extraction
from mnemoir.memory.facts.extract.requests import Turn
from mnemoir.privacy.secrets import secret_spans
from mnemoir.providers.llm.offline.extract import extract

WORDS = 2_000
TRIES = 9
TURNS = 120
_SECRETS = Path(__file__).parents[1] / "tests" / "privacy" / "secret_sentences.tsv"
_PLACES = "Graz Linz Bergen Porto Lyon Leeds Turin Gent Sevilla Bern Cork Nantes Braga Siena Delft Kiel Girona Bath"
_NAMES = "Anna Tom Lea Marco Ines Pavel Sofie Hugo Clara Nils Rosa Emil Nora Jonas Alba Rui Greta Owen Maud Felix"
_TALK = {
    "en": """I moved to {place} {n} years ago and work at a bakery near the station.
We had dinner with {name} last night, and the soup was far too salty.
My sister {name} lives in {place} with her {n} cats.
Could you tell me how to repair a bicycle tyre in {n} minutes?
The train to {place} was late again, so I read the paper on the platform.
I'm allergic to nuts, but I love anything with chocolate in it.
My boss said that the office in {place} will close next year.
If I had {n} more hours a day, I would learn to play the cello.""",
    "de": """Ich wohne seit {n} Jahren in {place} und arbeite in einer Bäckerei am Bahnhof.
Gestern haben wir mit {name} gegessen, und die Suppe war viel zu salzig.
Meine Schwester {name} wohnt mit ihren {n} Katzen in {place}.
Kannst du mir sagen, wie man in {n} Minuten einen Reifen flickt?
Mein Chef sagte, dass das Büro in {place} nächstes Jahr schließt.
Ich bin allergisch gegen Nüsse, aber ich mag Schokolade.""",
    "fr": """J'habite à {place} depuis {n} ans et je travaille dans une boulangerie.
Hier nous avons dîné avec {name}, et la soupe était bien trop salée.
Ma soeur {name} habite à {place} avec ses {n} chats.
Peux-tu me dire comment réparer un pneu en {n} minutes ?
Je suis allergique aux noix, mais j'adore le chocolat.""",
    "es": """Vivo en {place} desde hace {n} años y trabajo en una panadería.
Ayer cenamos con {name}, y la sopa estaba demasiado salada.
Mi hermana {name} vive en {place} con sus {n} gatos.
¿Puedes decirme cómo se repara una rueda en {n} minutos?
Soy alérgica a las nueces, pero me encanta el chocolate.""",
    "it": """Vivo a {place} da {n} anni e lavoro in una panetteria.
Ieri abbiamo cenato con {name}, e la zuppa era troppo salata.
Mia sorella {name} vive a {place} con i suoi {n} gatti.
Puoi dirmi come si ripara una gomma in {n} minuti?
Sono allergica alle noci, ma adoro il cioccolato.""",
    "pt": """Moro em {place} há {n} anos e trabalho numa padaria.
Ontem jantámos com {name}, e a sopa estava salgada demais.
A minha irmã {name} vive em {place} com os seus {n} gatos.
Podes dizer-me como se repara um pneu em {n} minutos?
Sou alérgica a nozes, mas adoro chocolate.""",
    "nl": """Ik woon al {n} jaar in {place} en werk bij een bakkerij.
Gisteren aten we met {name}, en de soep was veel te zout.
Mijn zus {name} woont met haar {n} katten in {place}.
Kun je me zeggen hoe je in {n} minuten een band plakt?
Ik ben allergisch voor noten, maar ik hou van chocola.""",
}
_ARTICLE = """The harbour of {place} was built {n} years after the fire, when {name} was mayor.
Its oldest crane, which the town bought from {place}, lifts {n} tons and is painted every spring.
Visitors reach the island by a ferry that leaves {n} times a day.
According to {name}, the museum holds the letters of {n} sailors.
Most of the houses along the quay belong to families who came from {place}."""


def long_text(lines: list[str], chance: random.Random) -> str:
    """Lines in any order with new names and numbers, in paragraphs, of at least WORDS words."""
    said: list[str] = []
    words = 0
    while words < WORDS:
        said.append(_filled(chance.choice(lines), chance))
        words += len(said[-1].split())
    return "\n\n".join(" ".join(said[at : at + 8]) for at in range(0, len(said), 8))


def short_turns(chance: random.Random) -> list[str]:
    """TURNS turns of a sentence or two, each language in turn."""
    lines = [said.splitlines() for said in _TALK.values()]
    return [
        " ".join(_filled(line, chance) for line in chance.sample(lines[at % len(lines)], 1 + at % 2))
        for at in range(TURNS)
    ]


def _filled(line: str, chance: random.Random) -> str:
    places, names = _PLACES.split(), _NAMES.split()
    return line.format(place=chance.choice(places), name=chance.choice(names), n=chance.randint(2, 900))


def learn(text: str) -> None:
    """Read the facts of one turn."""
    turns = turns_for_extraction([Turn(role="user", text=text)])
    extract({"turns": [{"role": "user", "text": turn.text} for turn in turns]})


def find_secrets(text: str) -> None:
    """Look for the secrets of one turn."""
    list(secret_spans(text))


def cost(work: Callable[[str], None], text: str) -> float:
    """CPU seconds."""
    before = time.process_time()
    work(text)
    return time.process_time() - before


def run() -> None:
    """Run the whole benchmark."""
    chance = random.Random(28)
    everywhere = [line for said in _TALK.values() for line in said.splitlines()]
    secrets = [line.split("\t")[2] for line in _SECRETS.read_text("utf-8").splitlines() if line.count("\t") == 2]
    secrets = [line.replace("{", "(").replace("}", ")") for line in secrets]
    for line in (*everywhere, *secrets):  # loads what is loaded once
        learn(line)
        find_secrets(line)
    texts: dict[str, tuple[Callable[[str], None], list[str]]] = {
        "facts of a diary in English": (learn, _TALK["en"].splitlines()),
        "facts of a diary in seven languages": (learn, everywhere),
        "facts of an article": (learn, _ARTICLE.splitlines()),
        "secrets of the three in one": (find_secrets, [*everywhere, *_ARTICLE.splitlines()]),
        "secrets of sentences that tell or name one": (find_secrets, secrets),
    }
    rows = []
    for name, (work, lines) in texts.items():
        took = [cost(work, long_text(lines, chance)) for _ in range(TRIES)]
        rows.append([name, ms(median(took)), ms(max(took))])
    took = [cost(learn, turn) for _ in range(TRIES) for turn in short_turns(chance)]
    rows.append([f"facts of one of {TURNS} short turns", ms(median(took)), ms(percentile(took, 0.95))])
    table(f"CPU of {WORDS:,} words, and of short turns, of {TRIES} tries", ["", "median", "most, or p95"], rows)


if __name__ == "__main__":
    run()
