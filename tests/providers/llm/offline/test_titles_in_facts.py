"""A fact holds a whole name with its title, abbreviation or initials; the next sentence gives a fact of its own."""

from datetime import date

from mnemoir.providers.llm.offline.extract import facts_of
from tests.each_case import check_each

WHOLE = [
    ("I live in St. Louis now", ["Lives in St. Louis"]),
    ("I work at Dr. Oetker", ["Works at Dr. Oetker"]),
    ("My dog is called Mr. Biscuit", ["Dog is called Mr. Biscuit"]),
    ("My favourite film is Dr. Strangelove", ["Favourite film is Dr. Strangelove"]),
    ("My sister lives in St. Gallen. I miss her.", ["Sister lives in St. Gallen"]),
    ("I used to live in St. Louis. I live in Graz.", ["Used to live in St. Louis", "Lives in Graz"]),
    ("My favorite author is J. R. R. Tolkien.", ["Favourite author is J. R. R. Tolkien"]),
    ("My name is Dr. Anna Weber.", ["Name is Dr. Anna Weber"]),
    ("My name is John F. Kennedy Jr. and I live in Reno.", ["Name is John F. Kennedy Jr", "Lives in Reno"]),
    ("my name is prof. hale", ["Name is Prof. Hale"]),
    ("I live at 5 Elm St. I have two cats.", ["Lives at 5 Elm St", "Has two cats"]),
    ("I work at Yahoo! Japan. I'm vegan.", ["Works at Yahoo! Japan", "Is vegan"]),
    ("I live in Los Angeles, CA. I hate coriander.", ["Lives in Los Angeles, CA", "Hates coriander"]),
    ("Ich wohne in St. Pölten. Ich bin 34.", ["Ich wohne in St. Pölten", "Ich bin 34"]),
    ("Ich wohne im 3. Stock.", ["Ich wohne im 3. Stock"]),
    ("J'habite à St. Étienne.", ["J'habite à St. Étienne"]),
    ("Vivo en Sta. Cruz de Tenerife.", ["Vivo en Sta. Cruz de Tenerife"]),
    ("Lavoro per il dott. Rossi.", ["Lavoro per il dott. Rossi"]),
    ("Moro na Av. Paulista.", ["Moro na Av. Paulista"]),
    ("Ik werk bij dhr. De Vries.", ["Ik werk bij dhr. De Vries"]),
    ("I'm Dr. House's biggest fan", []),
]


def test_a_fact_holds_the_whole_name():
    def check(said: str, facts: list[str]) -> None:
        assert facts_of(said, date(2026, 3, 4)) == facts

    check_each(WHOLE, check)
