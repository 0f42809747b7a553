"""Where sentences end: never behind a title, an abbreviation, an initial or an ordinal, and still where they do.

In the tables a bar stands between two sentences. Each language has texts that must not be cut, and harmless ones.
"""

import pytest

from mnemoir.core.sentences import is_title, sentences_of
from tests.each_case import check_each

WHOLE = {
    "en": """
        I live in St. Louis now.
        I work at Dr. Oetker and like it.
        Our neighbours are Mr. and Mrs. Okafor.
        My boss is Prof. Dr. Hale.
        My favourite author is J. R. R. Tolkien.
        The book is by J. K. Rowling.
        I like snacks, e.g. nuts and dates.
        I sleep late, i.e. at noon.
        The flat is No. 7 in Elm Rd. in Leeds.
        We meet at 5 p.m. on Fridays.
        I was born on Jan. 5 in Reno.
        I moved to the U.S. Virgin Islands.
        I grew up in Ft. Worth near Mt. Vernon.
        I work at Warner Bros. Pictures.
        My grandfather was Martin Luther King Jr. Boulevard's baker.
        I read Vol. 3 and p. 12 of it.
        Rex runs approx. 5 km a day.
        My bank is Acme Corp. in Boston.
        I work at Yahoo! Japan.
        I used to watch Jeopardy! on TV.
        i live in st. gallen with my cat
        We saw Sgt. Pepper and Capt. Kirk.
        I collect cards, coins, etc. from Peru.
        Her team is Nova vs. Orion.
        """,
    "de": """
        Ich wohne in St. Pölten.
        Ich arbeite bei Dr. Oetker.
        Meine Ärztin ist Dr. med. Huber.
        Ich mag z. B. Jazz und z.B. meine Katze.
        Ich wohne im 3. Stock.
        Mein Geburtstag ist am 3. März.
        Ich bin Fan vom 1. FC Köln.
        Das Zimmer kostet ca. 500 Euro.
        Ich trinke Kaffee, d. h. meist Espresso.
        Wir feiern am 24. Dezember.
        Mein Sohn geht in die 2. Klasse.
        Ich arbeite bei Müller GmbH & Co. KG.
        Ich wohne in der Gartenstr. 12 in Graz.
        Unser Hund ist bzw. war ein Dackel.
        Herr Prof. Dr. Dr. Lang ist mein Chef.
        Ich lese gern über Ludwig XIV. und Rom.
        Ich habe Zimmer Nr. 9 und Tel. 4711.
        """,
    "fr": """
        J'habite à St. Étienne.
        Je travaille pour M. Le Gall.
        Ma voisine est Mme. Dubois.
        Mon médecin est le Dr. Petit.
        J'aime les fruits, p. ex. les figues.
        J'habite au n.º 5 de la rue.
        Je lis le vol. 3 de la série.
        Mon auteur préféré est J. M. G. Le Clézio.
        Je pèse env. 60 kilos.
        J'habite bd. Voltaire.
        Je lis la p. 12 ce soir.
        Mon prof est le Pr. Martin.
        """,
    "es": """
        Vivo en Sta. Cruz de Tenerife.
        Trabajo para la Dra. Ruiz.
        Mi jefe es el Sr. Gómez.
        Mi vecina es la Sra. Peña.
        Me gustan las frutas, p. ej. los higos.
        Vivo en la Avda. Goya.
        Vivo en el n.º 5 de la calle.
        Mi autor favorito es J. L. Borges.
        Trabajo de 9 a. m. a 5 p. m. los lunes.
        Vivo en EE. UU. desde 2010.
        El núm. 7 es mi favorito.
        Mi profesor es D. Quijote.
        """,
    "it": """
        Lavoro per il dott. Rossi.
        Vivo in P.za S. Marco.
        Il mio capo è il sig. Bianchi.
        La mia vicina è la sig.ra Verdi.
        Mi piace la frutta, ad es. i fichi.
        Abito al n. 5 di via Roma.
        Il mio autore preferito è G. Tomasi.
        Mio zio è l'avv. Conti.
        Leggo il vol. 3 della serie.
        Peso ca. 60 chili.
        La mia prof. Neri insegna arte.
        Lavoro per Fiat S.p.A. a Torino.
        """,
    "pt": """
        Trabalho com o Dr. Silva.
        Moro na Av. Paulista.
        A minha chefe é a Dra. Costa.
        O meu vizinho é o Sr. Alves.
        Gosto de fruta, p. ex. figos.
        Moro no n.º 5 da rua.
        Sou fã de J. K. Rowling.
        Nasci em S. Paulo.
        Leio o vol. 3 da série.
        Peso aprox. 60 quilos.
        A Profa. Dra. Lima ensina arte.
        Moro perto de Sto. André.
        """,
    "nl": """
        Ik woon in St. Oedenrode.
        Ik werk bij dhr. De Vries.
        Mijn buurvrouw is mevr. Bakker.
        Mijn huisarts is Dr. Smit.
        Ik hou van fruit, bijv. vijgen.
        Ik woon op nr. 5 in de straat.
        Mijn favoriete schrijver is J. van Delft.
        Ik weeg ca. 60 kilo.
        Ik lees p. 12 en vol. 3.
        Ik werk bij Prof. Jansen.
        Ik drink koffie, m.a.w. espresso.
        Ik woon in 's-Hertogenbosch a.d. Maas.
        """,
}

CUT = {
    "en": """
        I live on Main St. | My dog is Rex.
        I live on Elm St. | The house is old.
        Do you eat meat? | No. | I am vegan.
        I am 34. | I live in Vienna.
        I work at Acme Inc. | My wife does too.
        I like cats, dogs, etc. | Anna likes birds.
        so do I. | Anna works at Norlin.
        i live in graz. | my dog is called rex. | i love pizza.
        My son is called Max. | He likes trains.
        I live in Los Angeles, CA. | I surf.
        My film is Dr. No. | I like it.
        I met Mr. T. | I was six.
        I work from 9 a.m. to 5 p.m. | I sleep at 10.
        I use C++. | I live in Graz.
        I watch Jeopardy! | Anna hates it.
        I work at Yahoo! | My brother works there.
        He lost it in World War II. | My father told me.
        Great... | I live in Graz.
        I love it! | 5 years ago I left.
        I take vitamin C. | The doctor says so.
        I take vitamin D. | Rex likes fish.
        Works at Acme Inc. | Lives in Graz.
        I live in the U.S. | My sister does not.
        """,
    "de": """
        Ich bin 34. | Graz ist schön.
        Mein Sohn ist 3. | Meine Tochter ist 5.
        Das ist alles, was ich mag. | Graz ist schön.
        Ich mag Hunde, Katzen usw. | Vögel auch.
        Ich wohne in der Gartenstr. | Die Wohnung ist klein.
        Ich arbeite bei Abel GmbH. | Ich mag Jazz.
        Ich bin da. | Anna auch.
        Ich nehme Vitamin C. | Der Arzt sagt es.
        Ich kenne Max. | Er ist nett.
        Ich heiße Jan. | Das ist kurz.
        Das war 1990. | Graz war klein.
        Mein Chef ist Dr. Lang. | Er ist nett.
        """,
    "fr": """
        Je vis à Lyon. | Mon chien est noir.
        J'ai 34 ans. | Anna en a 30.
        Je prends de la vitamine C. | C'est utile.
        Je travaille chez Roux et Cie. | J'aime ça.
        Non. | Je mange de tout.
        Mon docteur est M. Roux. | Il est gentil.
        J'habite à Paris. | 5 ans déjà.
        J'aime le jazz, le rock, etc. | Anna aussi.
        Je vis ici… | Et toi ?
        Je suis là ! | Tu viens ?
        Mon fils est Léo. | Ma fille est Zoé.
        C'est le Dr. Petit. | Je l'aime bien.
        """,
    "es": """
        Trabajo en Acme S.A. | Vivo en Madrid.
        Tengo 34 años. | Ana tiene 30.
        Dice que no. | Ana dice que sí.
        Me gusta el jazz, el rock, etc. | A Ana también.
        Mi jefe es el Sr. Gil. | Es amable.
        Tomo vitamina C. | Mi médico lo dice.
        Vivo cerca del mar. | Ana también.
        Vivo aquí. | 5 años ya.
        Sí. | Vivo en Lima.
        ¡Hola! | Soy Ana.
        Mi hijo es Leo. | Mi hija es Zoe.
        Vivo en EE.UU. | Trabajo en casa.
        """,
    "it": """
        Ho 34 anni. | Anna ne ha 30.
        Dice di no. | Anna dice di sì.
        Lavoro per Fiat S.p.A. | Vivo a Torino.
        Prendo la vitamina C. | Il medico lo dice.
        Mi piace il jazz, il rock, ecc. | Anche ad Anna.
        Il mio capo è il sig. Poli. | È gentile.
        Vivo qui. | 5 anni ormai.
        Sì. | Vivo a Roma.
        Ciao! | Sono Anna.
        Non so dove sto. | Anna lo sa.
        Mio figlio è Leo. | Mia figlia è Zoe.
        Vivo al mare. | Anna no.
        """,
    "pt": """
        Tenho 34 anos. | Ana tem 30.
        Ela diz que não. | Ana diz que sim.
        Trabalho na Acme S.A. | Moro em Lisboa.
        Tomo vitamina C. | O médico disse.
        Gosto de jazz, rock, etc. | Ana também.
        O meu chefe é o Sr. Reis. | Ele é gentil.
        Moro aqui. | 5 anos já.
        Sim. | Moro no Porto.
        Olá! | Sou a Ana.
        Moro perto do mar. | Ana não.
        O meu filho é o Leo. | A minha filha é a Zoe.
        Moro nos E.U.A. | Trabalho em casa.
        """,
    "nl": """
        Ik ben 34. | Anna is 30.
        Nee. | Ik eet alles.
        Ik werk bij Acme B.V. | Mijn vrouw ook.
        Ik neem vitamine C. | De arts zegt het.
        Ik hou van jazz, rock enz. | Anna ook.
        Mijn baas is dhr. Smit. | Hij is aardig.
        Ik woon hier. | 5 jaar al.
        Ja. | Ik woon in Delft.
        Hallo! | Ik ben Anna.
        Ik woon aan zee. | Anna niet.
        Mijn zoon is Leo. | Mijn dochter is Zoë.
        Ik ga op. | Anna blijft.
        """,
}


def rows(table: dict[str, str]) -> list[str]:
    return [line.strip() for text in table.values() for line in text.strip().splitlines()]


def test_no_sentence_ends_behind_a_title_an_abbreviation_an_initial_or_an_ordinal():
    check_each(
        rows(WHOLE), lambda text: list(sentences_of(text)) == [text] or pytest.fail(str(list(sentences_of(text))))
    )


def test_a_sentence_ends_where_another_one_begins():
    def check(text: str) -> None:
        assert list(sentences_of(text.replace(" | ", " "))) == text.split(" | ")

    check_each(rows(CUT), check)


def test_a_line_is_a_sentence_and_so_is_one_of_chinese_without_a_space():
    assert list(sentences_of("I row\n\n- in St.\nLouis")) == ["I row", "- in St.", "Louis"]
    assert list(sentences_of("我住在格拉茨。我喜欢猫！")) == ["我住在格拉茨。", "我喜欢猫！"]
    assert list(sentences_of(" \n ")) == []


def test_each_language_has_a_dozen_of_both_kinds():
    assert [code for table in (WHOLE, CUT) for code in table if len(rows({code: table[code]})) < 12] == []


@pytest.mark.parametrize("word", ["Dr.", "St", "mr.", "Sra.", "dott.", "dhr"])
def test_a_title_is_known_with_its_dot_and_without(word):
    assert is_title(word)


@pytest.mark.parametrize("word", ["mag", "MS", "Rex", "", ".", "D"])
def test_a_word_or_a_state_is_no_title(word):
    assert not is_title(word)


@pytest.mark.parametrize("piece", [". ", "A. ", "St. ", "1. ", "!? ", "x", "\n", '." ', "?", '?"', "？", " ", "\t"])
def test_a_long_text_of_one_mark_is_read_in_bounded_time(piece):
    text = (piece * 20_000)[:40_000]
    assert sum(map(len, sentences_of(text))) <= len(text)
