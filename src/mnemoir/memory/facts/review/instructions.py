"""Tells text that may be an instruction to a model from a statement, by rules in seven languages.

Some texts are suspected whoever said them: those that set aside earlier instructions, ask for the prompt, send a
conversation away, or spell the marks of a prompt or the call of a tool. Orders of any other kind ("always answer in
…", "remember that …") are suspected unless the user typed them: from the user they are preferences. Of what a tool or
a document says, a sentence that begins with a command is enough, and so is the mention of a model.

A suspected text is not refused. It waits for a person, so a rule may take a statement for an instruction; it must not
look through what is plain.
"""

import re
import unicodedata
from collections.abc import Iterable

from mnemoir.core import first_use
from mnemoir.core.memories import FOREIGN, Origin
from mnemoir.core.text import without_unseen
from mnemoir.memory.facts.review.indirect_orders import is_indirect

SUSPECTED = "suspected_instruction"  # the reason of a proposal
_MOST_READ = 20_000  # characters of a text; what is longer is suspected where nobody in the conversation said it
_LOOK_ALIKES = str.maketrans("аеорсухіјѕԁһαορνι", "aeopcyxijsdhaopvi")  # Cyrillic and Greek
_JOINERS = first_use.pattern("[\u00ad\u061c\u200c-\u200f\ufe00-\ufe0f]")


def is_suspected(text: str, origin: Origin, *, is_sure: bool = True) -> bool:
    """True when the text may be an instruction. `is_sure` is False for a user's text that may be a quotation."""
    if len(text) > _MOST_READ and origin in FOREIGN:
        return True
    text = text[:_MOST_READ]
    folded = _comparable_text(text)
    if _ANYONES.search(folded):
        return True
    if origin in ("user", "person") and is_sure:
        return False
    return bool(_ORDERS.search(folded)) or (
        origin in FOREIGN
        and (any(_COMMANDS.search(_comparable_text(line)) for line in text.splitlines()) or is_indirect(text))
    )


def _comparable_text(text: str) -> str:
    """The text without invisible characters, look-alikes, differences of width and case, and line breaks."""
    plain = unicodedata.normalize("NFKC", _JOINERS.sub("", without_unseen(text)))
    return " ".join(plain.casefold().translate(_LOOK_ALIKES).split())


def _one_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return first_use.pattern("|".join(f"(?:{pattern})" for pattern in patterns))


_SET_ASIDE = (
    r"\b(?:ignor\w*|disregard\w*|forget|overrid\w+|bypass|discard|missachte\w*|vergiss|vergesst|vergessen sie|"
    r"übergeh\w*|oublie[zr]?|ignore[zr]?|olvid[ae]\w*|descart[ae]\w*|haz caso omiso|dimentic[ah]\w*|scarta\w*|"
    r"esque[cç]\w*|desconsider\w*|negeer\w*|vergeet|"
    r"no hag\w+ caso|no teng\w+ en cuenta|non ten\w+ conto|não (?:tenhas?|leves?) em conta)\b"
)
_RULES = (
    r"(?:instru[ckçz]\w*|istruzion\w*|rules?|guidelines?|guardrails?|directives?|prompts?|systemprompt|"
    r"anweisung\w*|regeln?|vorgaben?|richtlinie\w*|consignes?|règles?|reglas?|regole|regras?|directrices|direttive|"
    r"aanwijzing\w*|regels|what you were told)"
)
_EARLIER = (
    r"(?:all|any|every|previous|prior|above|earlier|preceding|former|your|these|those|what|alle\w*|bisherig\w*|"
    r"vorherig\w*|obig\w*|deine\w*|ihre|tout\w*|précédent\w*|antérieur\w*|ci-dessus|tes|vos|tod[oa]s|anterior\w*|"
    r"previ[oa]s|tus|sus|tutt[ei]|precedent\w*|tue|vostre|suas|teus|tuas|eerdere|vorige|bovenstaande|je|jouw|uw)"
)
_USER = (
    r"(?:user|human|person|reader|customer|nutzer\w*|benutzer\w*|anwender\w*|utilisat\w+|usuari[oa]|utente|"
    r"utilizador\w*|gebruiker)"
)
_MACHINE = (
    r"(?:assistant|ai(?: assistant| model| agent)?|ki|llms?|language models?|chat ?bots?|models?|agent|"
    r"assistent\w*|sprachmodell\w*|assistante|ia|modèle|asistente|modelo|assistente|modello|taalmodel)"
)
_TALK = (
    r"(?:conversation\w*|chat\w*|message\w*|histor\w+|memor\w+|credentials?|passwords?|api[ -]?keys?|secrets?|"
    r"e-?mail address\w*|unterhaltung|gespräch\w*|verlauf\w*|nachricht\w*|passwör\w*|passwort|historique|"
    r"mots? de passe|messages?|mensajes?|historial|contraseñas?|conversaci\w+|cronologia|messaggi\w*|"
    r"conversazion\w*|mensage\w+|histórico|conversa|senhas?|bericht\w*|gesprek\w*|geschiedenis|wachtwoord\w*)"
)
_SEND = (
    r"\b(?:send|post|upload|forward|transmit|exfiltrate|leak|append|submit|sende|schicke?|leite|übermittle|"
    r"envoie[zr]?|transmet\w*|envía|envia|envie|reenv[ií]a\w*|invia\w*|inoltr\w*|encaminh\w*|stuur|doorsturen|"
    r"weiterleiten)\b"
)
_PLACE = r"(?:https?://|www\.|[\w.+-]+@[\w-]+\.\w)"

_ANYONES = _one_of(
    (
        rf"{_SET_ASIDE}.{{0,40}}?\b{_EARLIER}\b.{{0,40}}?\b{_RULES}",
        rf"{_SET_ASIDE}.{{0,40}}?\b{_RULES}\b.{{0,20}}?\b{_EARLIER}\b",
        rf"{_SEND}.{{0,60}}?\b{_TALK}.{{0,60}}?{_PLACE}",
        rf"\b{_TALK}\b.{{0,40}}?(?:{_PLACE}).{{0,60}}?{_SEND}",
        r"\bexfiltrat",
        # an image whose address carries data away
        r"!\[[^\]]{0,200}\]\(\s*https?://[^)\s]{1,500}[?{$%=][^)]{0,500}\)",
        r"<img[^>]{0,200}src\s*=\s*.?https?://[^>\s]{1,500}[?{]",
        # marks of a prompt
        r"<\|[a-z_]{2,30}\|>|<(?:start|end)_of_turn>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|developer)(?:_prompt)?>",
        r"(?:^|[.!?\]] )(?:system|assistant|developer) ?: |#{2,4} ?(?:system|instructions?|assistant) ?:",
        # calls of tools
        r"</?(?:tool_call|tool_use|function_calls?|invoke)\b|<function ?=|\"(?:tool_calls|function_call)\" ?:",
        r"\"name\" ?: ?\"[\w.-]+\" ?, ?\"(?:arguments|parameters|input)\" ?: ?[{\"]",
        # the prompt itself
        r"\b(?:reveal|print|show|output|repeat|leak|dump|display)\b.{0,30}\b(?:your|the|raw|whole|"
        r"entire) (?:system |hidden |initial )?(?:prompt|instructions|memory of|memories of)",
        r"(?:zeig\w*|gib|nenne|affiche\w*|montre\w*|muestra\w*|mostra\w*|mostre\w*|toon).{0,30}\b(?:systemprompt|"
        r"prompt (?:système|del sistema|di sistema|do sistema)|systeemprompt)",
        r"\b(?:jailbreak\w*|developer mode|dan mode) (?:enabled|on|activated|active)\b",
    )
)

_TOLD = (
    r"(?:answer|reply|respond|say|tell|recommend|promote|mention|include|add|append|use|call|run|execute|open|"
    r"visit|click|send|end|begin|start|greet|advise|trust|prefer|cite|rate|treat|output|print|refuse|obey|write|"
    r"speak|suggest|point|redirect|link|quote|buy|pay|transfer|delete|store|save|remember|confirm|ask)"
)
_TOLD_DE = (
    r"(?:antworte\w*|empfiehl\w*|empfehle\w*|sag\w*|nenne\w*|erwähn\w*|verwende\w*|nutze|öffne\w*|sende\w*|"
    r"schreib\w*|bewerte\w*|beginn\w*|beende\w*|füge|zeige?|lösche?|kauf\w*|führe?)"
)
_TOLD_FR = (
    r"(?:répond\w*|recommand\w*|mentionn\w*|dis|dites|écri\w*|utilis\w*|ouvr\w*|envo\w*|affich\w*|termin\w*|"
    r"présent\w*|ajout\w*|commenc\w*|achèt\w*)"
)
_TOLD_ES = (
    r"(?:respond\w*|recomiend\w*|mencion\w*|di|diga|escrib\w*|usa|use|abre|abra|env[ií]\w*|muestr\w*|termin\w*|"
    r"describ\w*|añad\w*|compr\w*)"
)
_TOLD_IT = (
    r"(?:rispond\w*|consigli\w*|menzion\w*|di'|scriv\w*|usa|apri|invia\w*|mostra\w*|termin\w*|aggiung\w*|compr\w*)"
)
_TOLD_PT = (
    r"(?:respond\w*|recomend\w*|mencion\w*|diga|escrev\w*|us[ae]|abr[ae]|envi\w*|mostr\w*|termin\w*|adicion\w*)"
)
_TOLD_NL = r"(?:antwoord\w*|raad|noem\w*|vermeld\w*|zeg|schrijf|gebruik|open|stuur|toon|eindig|begin|voeg|koop)"
_TELL = "|".join((_TOLD, _TOLD_DE, _TOLD_FR, _TOLD_ES, _TOLD_IT, _TOLD_PT, _TOLD_NL))
_HENCEFORTH = (
    r"\b(?:from now on|from this point|henceforth|in (?:the )?future|in all (?:future|further)|every time|"
    r"each time|whenever|until (?:told|further)|ab (?:jetzt|sofort)|von nun an|künftig|zukünftig|in zukunft|"
    r"jedes mal|désormais|dorénavant|à partir de maintenant|chaque fois|a partir de ahora|de ahora en adelante|"
    r"cada vez|d['’]ora in (?:poi|avanti)|ogni volta|a partir de agora|de agora em diante|sempre que|vanaf nu|"
    r"voortaan|elke keer)\b"
)

_KEEP = (
    r"(?:save|store|add|write|update|keep|put|speicher\w*|enregistre\w*|guard[ae]\w*|salva\w*|guarda\w*|grav[ae]\w*|"
    r"bewaar\w*)"
)
_MEMORY = r"(?:memory|memories|gedächtnis\w*|mémoire|memoria|memória|geheugen)"

_ORDERS = _one_of(
    (
        rf"{_HENCEFORTH}.{{0,60}}?\b(?:{_TELL}|you|du|tu|usted|je)\b",
        rf"(?:^|[.!?:;,\"] ?)(?:please |bitte |always |never |only )*(?:always|never|only|niemals|immer|jamais|"
        rf"toujours|nunca|siempre|sempre|mai|nooit|altijd) (?:{_TELL})\b",
        rf"\b(?:{_TELL})\b[^.]{{0,30}}\b(?:immer|niemals|nie mehr|nur noch|toujours|siempre|sempre|altijd|nooit)\b",
        r"\bne \w+ jamais\b|\bnon \w+ mai\b",
        # orders to a machine
        rf"\b{_MACHINE}\b,? (?:must|should|shall|has to|have to|is to|are to|needs? to|will now|is required|"
        rf"may not|must never|muss|soll\w*|darf|doit|devez|debe\w*|deve\w*|dovrà|moet\w*|mag)\b",
        r"\b(?:you|ai you) (?:must|should|shall|have to|are to|need to|are required to|will now|may not|may only|"
        r"are now|can no longer)\b",
        r"\b(?:du musst|du sollst|sollst du|du darfst|du bist (?:nun|jetzt|ab)|tu dois|vous devez|"
        r"tu es (?:maintenant|désormais)|debes|ahora eres|devi|ora sei|deves|você deve|agora (?:você é|és)|je moet|"
        r"je bent (?:nu|voortaan))\b",
        rf"\b(?:note|notice|message|attention|hint|instructions?|hinweis|nachricht|note|nota|aviso|avviso|"
        rf"bericht)\b,? ?(?:to|for|an|für|pour|à|para|per|voor|aan)? ?(?:the |all |any |die |das |den |alle |l['’]|"
        rf"la |el |il |o |de )*{_MACHINE}\b",
        rf"\bif you (?:are|'re) an? {_MACHINE}\b|\bas an? {_MACHINE} you\b|^{_MACHINE}, ",
        r"\b(?:new|updated|hidden|secret|further|additional|neue|nouvelles?|nuevas?|nuove|novas|"
        r"nieuwe) (?:instructions?|orders?|polic\w+|prompts?|anweisung\w*|consignes?|instruc\w+|istruzion\w+|"
        r"aanwijzing\w*)\b",
        rf"{_SET_ASIDE}.{{0,30}}?\b{_RULES}",
        rf"\b{_RULES}\b.{{0,30}}\b(?:no longer appl\w+|do not apply|gelten nicht|are void|suspended)\b",
        r"\b(?:pretend|act as|roleplay|role-play|take on the role|set your persona|your persona|unfiltered|"
        r"no restrictions|ohne einschränkung\w*|sans (?:aucune )?restrictions?|sin restricciones|senza restrizioni|"
        r"sem restrições|zonder beperkingen)\b",
        # what is to be remembered, or kept from the user
        r"\b(?:remember|memori[sz]e|keep in mind|note down|merke? dir|merken sie sich|retiens|retenez|recuerda|"
        r"recuerde|ricorda|ricordati|lembra-te|lembre-se|onthoud)\b",
        r"\b(?:save|store|add|write|update)\b.{0,20}\b(?:memory|memories|long-term)\b",
        rf"\b{_KEEP}\b.{{0,40}}\b(?:your|dein\w*|ta|ton|votre|tu|tua|teu|sua|je|jouw|uw) (?:long-term )?{_MEMORY}\b",
        rf"\b{_KEEP} (?:in|im|en|na|into|dans la|nella|in het) {_MEMORY}(?: (?:that|dass|que|che|dat)\b| ?:)",
        rf"\b(?:do not|don['’]t|never|without|nicht|nichts|ohne|ne|sans|rien|no|sin|nada|non|nulla|senza|não|sem|"
        rf"niets|zonder)\b.{{0,40}}\b{_USER}\b",
        rf"\b{_USER}\b.{{0,20}}\b(?:nichts|niets|nada|nulla)\b",
        rf"\b(?:when|if|wenn|falls|quand|si|cuando|quando|se|als|wanneer) (?:the |a |der |l['’]|el |o |"
        rf"de )?(?:{_USER}|someone|somebody|anyone|they)\b.{{0,40}}[,;:]",
        # what a machine does rather than says
        rf"(?:^|[.!?:,;\"] ?)(?:please |and )?(?:{_TELL}|fetch|load|enter|fill|render|"
        rf"go to)\b.{{0,60}}?(?:{_PLACE})",
        r"\b(?:run|execute|invoke|call|führe|exécute\w*|ejecut\w*|esegu\w*|execut\w*|voer)\b.{0,30}\b(?:command|"
        r"script|code|function|tool|befehl\w*|commande|comando|codice|código|opdracht|functie)\b",
        r"\bcurl (?:-\w+ )*https?://|\|\s*(?:ba|z)?sh\b|\brm -rf\b",
        r"\b(?:rate|review|describe|present|bewerte|présente|describe|presenta) (?:this|dieses|cet|este|questo) ",
    )
)

# of tools and documents alone: a sentence that begins with a command, or speaks to or about a model
_START = (
    r"(?:^|[.!?:;,\"“”'(][*_]{0,3} ?|\b(?:and|und|et|y|en|then) )(?:(?:please|kindly|quietly|secretly|silently|now|"
    r"just|also|then|first|do not|don['’]t|never|always|only|bitte|nun|dann|por favor|per favore|hey \w+,|dear \w+,|"
    r"not?|não|non|nie) )*"
)
_BARE = (
    r"(?:act|add|adopt|advise|agree|allow|answer|append|apply|approve|ask|assume|attach|avoid|be|begin|behave|book|"
    r"buy|bypass|call|change|charge|check|choose|cite|claim|click|collect|comply|confirm|connect|consider|contact|"
    r"continue|convince|copy|create|delete|deny|disable|display|do|download|drop|elect|embed|email|enable|encode|"
    r"end|ensure|"
    r"enter|erase|execute|expose|fetch|fill|find|follow|forget|forward|get|give|grant|hide|ignore|include|increase|"
    r"inform|insert|install|invoke|keep|leave|let|link|list|load|log|look|make|mention|move|notify|obey|omit|open|"
    r"order|output|paste|pay|post|prefer|present|pretend|print|promote|provide|publish|put|quote|raise|rate|read|"
    r"recommend|redirect|refer|reject|remove|rename|repeat|replace|reply|report|request|require|reset|respond|"
    r"reveal|"
    r"rewrite|run|save|say|send|set|share|show|sign|skip|speak|start|stop|store|submit|suggest|summari[sz]e|switch|"
    r"take|talk|tell|transfer|translate|treat|trust|turn|update|upload|use|visit|wire|write)"
)
_OBJECT = (
    r"(?:the|this|that|these|those|an?|all|any|every\w*|each|only|no|nobody|nothing|your\w*|my|our|their|his|her|"
    r"it|them|him|me|us|to|as|like|in|with|what\w*|how|who\w*|when\w*|people|messages?|users?|freely|exclusively|"
    r"solely|https?://\S*|[\"“'])"
)
_BEGIN_DE = (
    r"(?:antworte|behaupte|benimm|besuche|bestätige|bewerte|empfiehl|erwähne|erzähle?|frage?|führe|füge|gib|glaube|"
    r"ignoriere|kaufe?|klicke?|kopiere|lade|leite|lies|lösche|mache?|nenne|nutze|öffne|rufe?|sage?|schalte|"
    r"schicke?|schreibe?|sende|setze|speichere|stell\w*|tu|überweise|übersetze|vergiss|verschicke?|verhalte|"
    r"verrate|vertraue|verwende|verschweige|wiederhole|zeige?)"
)
_BEGIN_FR = (
    r"(?:agi[sr]|achèt|affich|ajout|cach|cliqu|confirm|copi|donn|écri|envo|exécut|fai[st]|ignor|install|livr|"
    r"mentionn|montr|ouvr|oubli|pay|prétend|recommand|répèt|répond|révèl|supprim|tradui|transfèr|transmet|"
    r"utilis)\w*"
)
_BEGIN_ES = (
    r"(?:abre|actúa|añade|borra|compórtate|compra|confía|confirma|contesta|copia|ejecuta|elimina|envía|escribe|"
    r"finge|haz|ignora|instala|manda|menciona|muestra|oculta|olvida|cambia|elogia|paga|recomienda|reenvía|repite|"
    r"responde|revela|"
    r"traduce|transfiere|utiliza)"
)
_BEGIN_IT = (
    r"(?:agisci|aggiungi|apri|cancella|clicca|compra|comportati|conferma|consiglia|copia|dimentica|elimina|esegui|"
    r"fidati|fingi|ignora|inoltra|invia|manda|menziona|mostra|nascondi|cambia|loda|paga|ripeti|rispondi|rivela|"
    r"scrivi|traduci|"
    r"trasferisci)"
)
_BEGIN_PT = (
    r"(?:abra|adicione|aja|apague|clique|compre|comporte-se|confie|confirme|copie|diga|elimine|encaminhe|envie|"
    r"esconda|escreva|esqueça|execute|faça|finja|ignore|instale|mande|mencione|mostre|mude|elogie|pague|"
    r"recomende|repita|"
    r"responda|revele|traduza|transfira|utilize)"
)
_BEGIN_NL = (
    r"(?:antwoord|beveel|bevestig|doe|geef|gedraag|herhaal|installeer|klik|koop|kopieer|maak|negeer|noem|onthul|"
    r"raad|schrijf|stuur|toon|verander|prijs|vergeet|verberg|vermeld|vertaal|vertel|vertrouw|verwijder|voeg|zeg)"
)
_PROGRAM = (
    r"(?:ai|ki|ia|llms?|language models?|sprachmodell\w*|chat ?bots?|modèles? de langage|modelos? de lenguaje|"
    r"modell[oi] linguistic[oi]|taalmodel\w*)"
)
_OWNER = r"(?:user|account holder|nutzer\w*|benutzer\w*|utilisat\w+|usuari[oa]|utente|utilizador\w*|gebruiker)"
_COMMANDS = _one_of(
    (
        rf"{_START}{_BARE} {_OBJECT}(?:\b|$|(?<=\W))",
        rf"{_START}(?:{_BEGIN_DE}|{_BEGIN_FR}|{_BEGIN_ES}|{_BEGIN_IT}|{_BEGIN_PT}|{_BEGIN_NL}) \w",
        r"(?:^|[.!?:;] ?)ne \w+ (?:pas|rien|plus)\b",
        r"\b(?:ai|ki)(?:[- ](?:agents?|assistants?|models?|systems?|assistent\w*))\b|\bagents? (?:ia|ai)\b",
        r"\b(?:chatgpt|claude|gemini|copilot|llama|mistral|gpt-?\d?|language models?|chat ?bots?)\b",
        r"\bsystem ?-?prompts?\b|\bprompt (?:système|del sistema|di sistema|do sistema)\b|\bsysteemprompt\b",
        rf"{_SEND}.{{0,80}}?{_PLACE}",
        rf"\b(?:important|wichtig|importante?|belangrijk|dear|liebe[rs]?|chère?s?|cher|querid[ao]s?|car[aoie]|beste) "
        rf"(?:for |für |pour |para |per |voor )?(?:the |any |all |die |das |alle |l['’]|la |el |o |de )*{_PROGRAM}\b",
        r"\bdear assistants?,",
        # what the person is said to want of the reader
        rf"\b{_OWNER}\b(?: \w+){{0,2}} (?:wants?|wishes|prefers|asked|asks|would like|expects|möchte|will|wünscht|"
        rf"bittet|veut|souhaite|demande|quiere|vuole|quer|wil|vraagt)\b.{{0,9}}\b(?:you|du|tu|vous|você|je|jij)\b",
        r"\b(?:your|dein\w*|ihre?|ton|ta|votre|tu|su|il tuo|la tua|[ao] (?:seu|sua|teu|tua)|je|jouw|uw) (?:(?:real|"
        r"true|new|only|first|next|echte|neue|wahre|vrai|nouveau|nuevo|nuova?|novo|nieuwe) )?(?:task|name|role|job|"
        r"goal|purpose|identity|mission|instructions?|aufgabe|rolle|auftrag|rôle|nom|tâche|nombre|papel|tarea|nome|"
        r"ruolo|compito|tarefa|naam|rol|taak)\b",
        r"\b(?:rules?|restrictions?|guidelines?|limits?|filters?|safety|regeln|sicherheitsregeln|einschränkungen|"
        r"filtre|règles|reglas|filtro|regole|regras|regels)\b.{0,30}\b(?:lifted|removed|disabled|void|off|"
        r"aufgehoben|ungültig|levées|anuladas|sospese|suspensas|opgeheven)\b",
        r"\b(?:no|without|ohne|keine|sans|sin|senza|sem|geen|zonder) (?:\w+ )?(?:rules?|restrictions?|filters?|"
        r"limits?|regeln|filter|filtre|règles|reglas|filtros?|regole|filtri|regras|regels)\b",
        # what must be, whoever must do it
        r"\b(?:must|shall|should|ought to|have to|has to|is to|are to|need to|needs to|muss|müssen|soll|sollen|"
        r"sollst|hat .{1,40} zu|doit|doivent|devez|veuillez|debe|debes|deben|deve|devi|devono|deves|devem|moet|"
        r"moeten|dient)\b",
        r"\b(?:you (?:will|are|can|may|agree)|yourself|du (?:bist|wirst|kannst)|tu es|eres|tu sei|você é|je bent)\b",
        r"\b(?:automated|artificial|crawlers?|bots?|readers?|visitors?|whoever|wer diesen|permission|authori[sz]ed|"
        r"master|maître|amo|padrone|mestre|meester|tracking pixel)\b",
        r"\b(?:in|to|with|of) (?:each|every|all) (?:reply|replies|answers?|responses?|messages?)\b",
        r"\b(?:it is|is|are) (?:mandatory|obligatory|required|forbidden|prohibited) to\b|\bmerci de\b|"
        r"\boverrides?\b|\b(?:had|['’]d|you) better (?:not )?\w+|\bassistants (?:recommend|always|never)\b|"
        r"\bfrom here on\b",
        r"\b(?:no questions asked|code ?word|passphrase|whatever .{0,40} says|more than the user|user preference|"
        r"gets? the answer|the next thing|has to contain|must contain|admin (?:level|mode|rights)|root access)\b",
    )
)
