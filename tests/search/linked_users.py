"""Invented French users whose questions need two or three facts that hang together by names."""

import random

NAMES = (
    *(
        "Adèle",
        "Basile",
        "Céline",
        "Damien",
        "Élodie",
        "Fabien",
        "Gaëlle",
        "Hugues",
        "Inès",
        "Joris",
        "Loïc",
    ),
    *(
        "Maëlys",
        "Noémie",
        "Octave",
        "Pauline",
        "Quentin",
        "Rémi",
        "Solène",
        "Tanguy",
        "Ursule",
        "Valère",
        "Yann",
        "Zoé",
    ),
)
FIRMS = ("Norlin", "Castello", "Vantera", "Quorix", "Halden", "Zentis", "Orbico", "Maravel", "Lumira", "Tessara")
CITIES = ("Nantes", "Lyon", "Turin", "Porto", "Riga", "Bergen", "Split", "Gand", "Cork", "Varna", "Bilbao", "Trieste")
PROJECTS = ("Mistral", "Bleuet", "Souci", "Lanterne", "Comète")
KIN = ("frère", "voisin", "cousin", "dentiste", "oncle", "chef")
OTHERS = (
    "Boit du café fort le matin",
    "A un vélo bleu dans le garage",
    "Préfère la fenêtre dans le train",
    "Est allergique aux noix",
    "Joue au tennis le jeudi",
    "Lit des romans policiers",
    "Aime la soupe de poireaux",
    "Apprend le piano depuis un an",
)


def user(number):
    """Facts, and (question, the facts that it needs)."""
    draw = random.Random(number)
    names, firms, cities = draw.sample(NAMES, 15), draw.sample(FIRMS, 10), draw.sample(CITIES, 10)
    projects, kin = draw.sample(PROJECTS, 4), draw.sample(KIN, 4)
    called = [f"{who.capitalize()} s'appelle {names[at]}" for at, who in enumerate(kin)]
    works = [f"{names[at]} travaille chez {firms[at]}" for at in range(10)]
    offices = [f"{firms[at]} a ses bureaux à {cities[at]}" for at in range(10)]
    led = [f"Le projet {projects[at]} est dirigé par {names[at + 5]}" for at in range(4)]
    numbers = [f"{names[at + 5]} répond au poste {draw.randrange(1000, 9999)}" for at in range(4)]
    facts = [*called, *works, *offices, *led, *numbers, *OTHERS]
    draw.shuffle(facts)
    return facts, [
        (f"Où travaille mon {kin[0]} ?", (called[0], works[0])),
        (f"Dans quelle ville est le bureau de {names[2]} ?", (works[2], offices[2])),
        (f"Quel numéro faut-il composer pour le responsable de {projects[1]} ?", (led[1], numbers[1])),
        (f"Dans quelle ville va mon {kin[1]} chaque jour ?", (called[1], works[1], offices[1])),
        (f"Où travaille {names[3]} ?", (works[3],)),
    ]
