"""Orders that a tool or a document words as a statement: "good summaries leave the recall out".

None of them is an order in its grammar. What gives them away is what they are about: how the answer or the program
that reads them ought to be, what the person is said to have allowed, that a safeguard is over, that work counts as
done once something reached an address, a link with a gap to be filled. In English, German, French and Spanish.
"""

import unicodedata

from mnemoir.core import first_use
from mnemoir.core.text import without_unseen

_OUTPUT = (
    r"(?:summar(?:y|ies)|digests?|repl(?:y|ies)|answers|responses|recaps?|write-?ups?|overviews?|zusammenfassung\w*|"
    r"antworten|kurzfassung\w*|übersicht\w*|résumés?|réponses?|synthèses?|resúmenes|resumen|respuestas?|síntesis)"
)
_GOOD = (
    r"(?:good|best|better|ideal\w*|helpful|correct|proper|successful|well[- ]\w+|complete|upcoming|coming|"
    r"future|later|"
    r"gut\w*|best\w*|ideal\w*|gelungen\w*|richtig\w*|kommend\w*|künftig\w*|spätere\w*|bonn?e?s?|meilleure?s?|"
    r"idéal\w*|réussie?s?|prochaine?s?|futur\w*|buen[ao]?s?|mejor\w*|logrado|próxim[ao]s|futur[ao]s)"
)
_OUGHT = (
    r"(?:(?:be|is|are|works?) (?:ideal|best|better|met|welcome|preferred|preferable|expected|considered|customary)|"
    r"appreciate\w*|agreed|counts? as|am besten|wäre es|bitten|erwünscht|üblich\w*|vereinbart|gilt|gelten|"
    r"l['’]idéal|mieux vaut|prions|souhaitable|"
    r"convenu|habituel\w*|vaut|lo ideal|conviene|rogamos|deseable|habitual\w*|acordó|acordado|equivale)"
)
_SHAPE = (
    r"(?:close|end|conclude|finish|open|start|contain|mention|name|omit|skip|leave|left|lack|praise|spoke|speak|"
    r"favou?r|"
    r"schließ\w+|ende\w*|enthalt\w*|erwähn\w*|nenn\w*|fehl\w*|lob\w*|auslass\w*|se conclu\w*|se termin\w*|contien\w*|"
    r"mentionn\w*|éloge|passe\w*|omet\w*|se cierr\w*|termin\w*|contien\w*|mencion\w*|elogi\w*|aparec\w*|omit\w*)"
)
_PROGRAM = (
    r"(?:(?:reader|reading|receiving|processing) (?:software|program|system|tool)s?|(?:whichever|whatever|any) "
    r"(?:program|software|system|tool|process) (?:that |which )?(?:reads?|processes|summari[sz]es|handles)|"
    r"(?:helpful|good|polite|well[- ]\w+|smart) (?:systems|programs?|software|tools) (?:\w+ly )?\w+ (?:its|"
    r"their|the|a|an|"
    r"this)\b|lesesoftware|leseprogramm\w*|"
    r"(?:gut\w* \w+|höflich\w*|hilfreich\w*) (?:programm\w*|systeme?|software)|logiciel de lecture|"
    r"(?:programme|logiciel|système) (?:bien élevé|poli|qui lit)|programa lector|"
    r"(?:programa|sistema|software) (?:educado|amable|que le[ae]))"
)
_PERSON = (
    r"(?:account holder|account owner|user|(?:person|people) (?:in this chat|you (?:serve|talk|speak|work)\b|here)|"
    r"conversation partner|kontoinhaber\w*|nutzer\w*|gesprächspartner\w*|titulaire du compte|utilisat\w+|"
    r"la personne|interlocut\w+|titular de la cuenta|usuari[oa]|la persona)"
)
_ALLOWED = (
    r"(?:standing wish|express wish|wish(?:es)? to|has (?:a )?wish|consent\w*|approval|"
    r"(?:already|earlier)\b.{0,30}\b(?:said|mentioned|agreed|asked)|(?:said|mentioned|agreed|asked)\b.{0,12}\b"
    r"(?:already|earlier)|wunsch|zustimmung|einverst\w+|(?:bereits|schon|vorhin)\b.{0,20}\bgesagt|"
    r"souhait|accord|(?:déjà)\b.{0,20}\b(?:dit|précisé|demandé)|deseo|visto bueno|"
    r"consentimiento|(?:ya)\b.{0,20}\b(?:dicho|pedido))"
)
_UNASKED = (
    r"(?:(?:needs?|requires?) no (?:further |more )?confirmation|no (?:further |"
    r"more )?confirmation is (?:needed|required|"
    r"necessary)|(?:keiner|keine) (?:weitere\w* )?(?:bestätigung|rückfrage|nachfrage)|"
    r"passent? de (?:toute )?confirmation|pas besoin de confirmation|no (?:necesit\w+|"
    r"requier\w+) (?:más )?confirmación)"
)
_GUARD = (
    r"(?:safeguards?|protections?|precautions|safety (?:measures|checks?)|schutz\w+|vorkehrung\w*|sicherung\w*|"
    r"protections|garde-fous|précautions|protecciones|salvaguard\w+|precauciones)"
)
_OVER = (
    r"(?:over|ended|expired|no longer|obsolete|void|gone|lifted|vorbei|beendet|abgelaufen|aufgehoben|hinfällig|close|"
    r"terminée?s?|levée?s?|caduques?|acab\w+|terminad\w+|caduc\w+|levantad\w+)"
)
_TASK = r"(?:task|job|assignment|work|auftrag|aufgabe|arbeit|tâche|mission|travail|tarea|encargo|trabajo)"
_ONCE = r"(?:once|when|as soon as|until|sobald|wenn|bis|quand|lorsqu\w+|dès que|une fois|cuando|en cuanto|una vez)"
_PLACE = r"(?:https?://|www\.|[\w.+-]+@[\w-]+\.\w)"
_QUESTIONS = r"(?:questions?|enquir\w+|fragen|anfragen|preguntas|consultas)"
_SUCCESS = r"(?:success|erfolg|réussite|succès|éxito)"
_MEASURED = r"(?:measured|judged|counted|counts|bemisst|misst|gemessen|mesure\w*|jug\w+|mide|medi\w+|cuenta)"
_LATER = (
    r"(?:later|future|further|coming|from here|künftig\w*|zukünftig\w*|spätere\w*|à l['’]avenir|futures?|"
    r"en adelante|futur[ao]s)"
)

# a query whose value is a word in capitals or within brackets stands for something to be filled in
_GAP = first_use.pattern(r"https?://[^\s)\]>\"']{1,300}[?&][\w-]{1,40}=(?:[A-ZÄÖÜÉÑ_]{3,40}\b|[{<\[%$])")
_INDIRECT = first_use.pattern(
    "|".join(
        (
            rf"\b{_GOOD}\b.{{0,20}}\b{_OUTPUT}\b.{{0,60}}\b{_SHAPE}",
            rf"\b{_OUTPUT}\b.{{0,40}}\b{_SHAPE}\b.{{0,60}}\b{_OUGHT}\b",
            rf"\b{_OUGHT}\b.{{0,50}}\b{_OUTPUT}\b",
            rf"\b{_OUGHT}\b.{{0,50}}\b{_PROGRAM}\b",
            rf"\b{_PROGRAM}\b",
            rf"\b{_PERSON}\b.{{0,60}}\b{_ALLOWED}\b",
            rf"\b{_ALLOWED}\b.{{0,60}}\b{_PERSON}\b",
            rf"\b{_UNASKED}\b",
            rf"\b{_GUARD}\b.{{0,80}}\b{_OVER}\b",
            rf"\b{_TASK}\b.{{0,40}}\b{_ONCE}\b.{{0,80}}{_PLACE}",
            rf"\b{_ONCE}\b.{{0,60}}{_PLACE}.{{0,60}}\b{_TASK}\b",
            rf"\b(?:task|auftrag|tâche|tarea)\b.{{0,60}}{_PLACE}",
            rf"\b{_SUCCESS}\b.{{0,40}}\b{_TASK}\b.{{0,60}}\b{_MEASURED}\b",
            rf"\b{_LATER}\b.{{0,20}}\b{_QUESTIONS}\b.{{0,60}}\b(?:best|met|answered|with)\b",
            rf"\b{_QUESTIONS}\b.{{0,60}}\b(?:{_LATER}|{_OUGHT})\b",
        )
    )
)
_MOST_READ = 20_000


def is_indirect(text: str) -> bool:
    """True for a text of a tool or a document that may be an order worded as a statement."""
    plain = unicodedata.normalize("NFKC", without_unseen(text[:_MOST_READ]))
    return _GAP.search(plain) is not None or any(
        _INDIRECT.search(" ".join(line.casefold().split())) for line in plain.splitlines()
    )
