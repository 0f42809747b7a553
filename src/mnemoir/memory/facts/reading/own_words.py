"""The sentences of a turn that the user wrote about themselves: without code, quotes, pasted text and jokes.

The rules read first-person statements. Text that is only pasted has them, too: a sentence to translate, a transcript
of another chat, a system prompt. It is removed before any rule sees it; in doubt it is removed, since a fact about
another person is worse than a missed one.
"""

import re
from collections import Counter
from collections.abc import Iterator

from mnemoir.core import first_use
from mnemoir.core.sentences import sentences_of
from mnemoir.memory.facts.reading.blocks import without_blocks, without_prompt_in_parts
from mnemoir.memory.facts.reading.changes import with_new_states
from mnemoir.memory.facts.reading.ellipses import complete
from mnemoir.memory.facts.reading.frames import opens_frame, outside_frames, with_marked_asides, without_jokes
from mnemoir.memory.facts.reading.repairs import repair
from mnemoir.memory.facts.reading.speakers import addresses, introduces_next, is_spoken_by_other, own_parts

_GAP = first_use.pattern(r"[^\S\n]+")
_CODE = first_use.pattern(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED_LINE = first_use.pattern(r"^[^\S\n]*>.*$", re.MULTILINE)
_QUOTES = (
    first_use.pattern(r"[\"“„«»](?P<inside>[^\"“”„«»\n]{1,2000})[\"“”«»]"),
    first_use.pattern(r"(?<!\w)['‘‚‹](?P<inside>(?=[A-ZÀ-Þ¿¡]\S* )(?:[^'‘‚‹›\n]|(?<=\w)'(?=\w)){1,400})['›](?!\w)"),
)
_BLANK_LINE = first_use.pattern(r"(?<![:,])\n[^\S\n]*\n")  # behind "Dear Tom," and a heading, a letter goes on
_SPEECH = first_use.pattern(r"[.!?]$|(?:^|\s)(?:i|i'\w+|ich|je|j'\w+|yo|io|eu|ik)(?:\s|$)", re.IGNORECASE)
_LINK = first_use.pattern(r"https?://\S+")
_ASIDE = first_use.pattern(r"(?<!\s)\s*\([^()]*\)")
_TAG = first_use.pattern(r"<(?P<name>[a-z][\w-]{0,40})(?:\s[^<>\n]{0,400})?>", re.IGNORECASE)
_OWN_BEGINNING = (
    r"(?:ich|wir|je|nous|yo|io|eu|ik|wij|soy|estoy|tengo|vivo|trabajo|odio|amo|me llamo|sono|ho|abito|lavoro|adoro|"
    r"mi chiamo|sou|estou|tenho|moro|trabalho|odeio|gosto|chamo-me)\s|j'\w"
)
_CUT = first_use.pattern(  # inside of a sentence, between two that each say something
    rf";\s*|(?=¿)|\s?:\s+(?={_OWN_BEGINNING})|"
    r"^according to (?:my|the) (?:doctor|gp|nurse|midwife|test|scan|report|results?|\w+(?:ist|ian|geon)),?\s+"
    r"(?=i(?:'m|'ve)?\s)",
    re.IGNORECASE,
)
_MAY_CUT = first_use.pattern(r"[;¿:]|^according\s", re.IGNORECASE)
_PIECE = first_use.pattern(
    r".{1,1500}(?:,\s|\s|$)|\S+", re.DOTALL
)  # of a sentence; the patterns must stay fast on lists
_BEGIN = r"(?:^|(?<=[.!?]\s))"
_POLITE = (
    r"(?:(?:hi|hello|hey|please|pls|can you|could you|would you|bitte|kannst du|könntest du|peux-tu|pouvez-vous|"
    r"puedes|podrías|puoi|potresti|podes?|poderia|kun je|kan je|por favor|per favore),?\s+)*"
)
_MATERIAL = first_use.pattern(  # what follows the colon is a text to work on
    rf"{_BEGIN}{_POLITE}(?!check (?:this|it) out)"
    r"(?:translat|fix|correct(?!ion\s?:)|proofread|rewrit|rephras|paraphras|summari[sz]|improv|edit|check|classif|analy[sz]|"
    r"explain|review|shorten|polish|convert|continue|complete|extract|repeat|read|transcrib|describe|write|reply to|"
    r"respond to|comment on|debug|here is|here's|this is (?:a|the|my) (?:text|prompt|e-?mail|poem|story|letter)|"
    r"the following|given (?:the|this)|what does|"
    r"écri(?:s|vez)\b|escrib(?:e|a|eme)\b|scriv(?:i|a|imi)\b|escrev(?:e|a)\b|schrijf\b|racont(?:e|ez)\b|cuént|cuenta\b|"
    r"raccont(?:a|ami)\b|conta(?:-me)?\b|invent(?:e|a)\b|erzähl|vertel\b|tell (?:me )?(?:a|the)\b|"
    r"übersetz|korrigier|verbesser|fass|formulier|umschreib|überprüf|prüf|analysier|erklär|hier ist|schreib|"
    r"tradui|traduc|corrig|résum|reformul|amélior|relis|voici|expliqu|vérifi|"
    r"resum|reescrib|reescrev|mejor\w|analiz|explic|revis|aquí|aqui está|traduz|corrij|melhor\w|analis|"
    r"correggi|riassum|riscriv|miglior\w|spieg|ecco|controll|vertaal|verbeter|vat |herschrijf|corrigeer|hier is)"
    r"[^\n:]{0,160}:[ \t]*\n*",
    re.IGNORECASE | re.MULTILINE,
)
_ROLES = (
    r"user|human|assistant|ai|bot|chatgpt|gpt|claude|gemini|system|system prompt|benutzer|nutzer|assistent|"
    r"utilisateur|assistante|usuario|asistente|utente|assistente|usu[áa]rio|gebruiker"
)
_ROLE_LABEL = first_use.pattern(
    rf"{_BEGIN}[ \t>*_#\[(-]*(?:{_ROLES})[\])*_]*\s*(?:\([^)\n]*\))?\s*:", re.IGNORECASE | re.MULTILINE
)
_SPEAKER = first_use.pattern(  # a line of a chat between people: "[12:03] Anna: ..."
    r"^(?P<time>\[?\d{1,2}[:.]\d\d(?:[:.]\d\d)?[^\S\n]?(?:[AaPp][Mm])?\]?,?[^\S\n]*-?[^\S\n]*)?"
    r"(?P<who>[A-ZÀ-Þ][\w'.-]*(?: [A-ZÀ-Þ][\w'.-]*)?)[^\S\n]?:[^\S\n](?P<said>.*)$",
    re.MULTILINE,
)
_MAIL = first_use.pattern(  # the head of a mail, behind which somebody writes
    r"(?:^[^\S\n]*(?:From|To|Cc|Subject|Date|Sent|Reply-To|Von|An|Betreff|Datum|Gesendet|De|À|Objet|Envoyé|Para|Asunto|"
    r"Fecha|Enviado|Da|A|Oggetto|Data|Inviato|Assunto|Van|Aan|Onderwerp|Verzonden)[^\S\n]?:[^\n]*(?:\n|\Z)){2,}|"
    r"^[^\S\n]*-{2,}[^\S\n]*(?:forwarded|original message|weitergeleitet|ursprüngliche nachricht|message transféré|"
    r"message d'origine|mensaje (?:reenviado|original)|messaggio (?:inoltrato|originale)|doorgestuurd|"
    r"mensagem (?:encaminhada|original)|oorspronkelijk bericht)",
    re.IGNORECASE | re.MULTILINE,
)
_FORWARDED = first_use.pattern(  # a mail or message that is passed on
    r"^[^\S\n]*\W{0,3}(?:(?:(?:Fwd|FWD|fwd|Fw|FW|WG|Wg|TR|Tr|RV|Rv|ENC|Enc|DOORST)[^\S\n]?:(?=[^\S\n]*\S))|"
    r"(?i:forwarded(?: message| mail| e-?mail)?|weitergeleitete (?:nachricht|mail|e-mail)|weitergeleitet|"
    r"(?:message|courriel|mail) (?:transféré|transmis)|transféré|(?:mensaje|correo) reenviado|reenviado|"
    r"(?:messaggio|mail) inoltrat[oa]|inoltrato|(?:mensagem|e-?mail) (?:re)?encaminhad[oa]|encaminhad[oa]|"
    r"doorgestuurd(?: bericht|e mail)?)(?:[^\S\n](?:by|from|von|vom|de|da|di|por|van)[^\S\n][^:\n]{1,60})?\]?"
    r"[^\S\n]?(?::|\n))",
    re.MULTILINE,
)
_MAIL_IN_A_LINE = first_use.pattern(
    r"^[^\S\n]*(?:Subject|Betreff|Objet|Asunto|Oggetto|Assunto|Onderwerp)[^\S\n]?:[^\n]{0,2000}\b(?:regards|sincerely|"
    r"yours|cheers|grü(?:ß|ss)en?|cordialement|salutations|saludos|atentamente|saluti|cumprimentos|atenciosamente|"
    r"groet(?:en|jes)?)\b|"
    r"^[^\S\n]*(?:From|Von|De|Da|Van)[^\S\n]?:[^\S\n]*[^\s:.,;]+(?: [^\s:.,;]+){0,2}[.,;][^\S\n]+(?:hi|hello|"
    r"dear|hallo|liebe[rs]?|bonjour|chère?|hola|querid[oa]|estimad[oa]|ciao|car[oa]|gentile|olá|prezad[oa]|beste)\b",
    re.IGNORECASE | re.MULTILINE,
)
_TEMPLATE = first_use.pattern(
    r"^#{2,6}[^\S\n]*(?:instructions?|response|human|assistant)[^\S\n]*:", re.IGNORECASE | re.MULTILINE
)
_PERSONA = first_use.pattern(
    r"\W*(?:system(?: prompt| message)?\W+)?(?:(?:you are|you're|act as|your name is|du bist|sie sind|"
    r"tu es|vous êtes|eres|sei|tu sei|você é|tu és|je bent|jij bent|u bent)\b[^.!?\n]*"
    r"\b(?:assistant|assistent|asistente|assistente|bot|chatbot|ai|ki|ia|model|modell|"
    r"modelo|modello|modèle|agent|agente|expert|character|tutor)\b)",
    re.IGNORECASE,
)
_INSTRUCTION = first_use.pattern(
    r"(?:^|(?<=[.!?:]\s)|(?<=\n))[-*\d.)\s]*(?:you (?:are|must|should|will|can|have|do|never|always)|"
    r"your (?:task|role|job|goal|name|purpose|answers?)|(?:always|never|do not|don't|only) \w+|"
    r"(?:respond|answer|reply|speak) (?:in|with|only|as|to)|be (?:concise|helpful|polite|friendly|brief)|"
    r"user'?s?\b|the user\b)",
    re.IGNORECASE,
)
_EMOTE = first_use.pattern(  # "*draws the sword*" opens a turn of a play; a gesture does not
    r"^[^\S\n]*\*(?=[a-zà-ÿ])(?![^*\n]*\b(?:sigh|laugh|eye|hand|breath|head|shoulder|cough|nod|wave|smile|throat|"
    r"aug|hand|kopf|luft|yeux|main|tête|ojos|mano|cabeza|occhi|testa|olhos|mão|cabeça|ogen|hoofd|"
    r"i|i'm|my|ich|mein|je|mon|ma|yo|mi|io|mio|mia|eu|meu|minha|ik|mijn)s?\b)[^*\n]*\s[^*\n]*\*(?!\*)",
    re.MULTILINE,
)
_SARCASM = first_use.pattern(
    r"^(?:oh,? (?:sure|great|yes|yeah|wonderful|fantastic|brilliant|perfect|lovely|joy|good|nice|of course)|"
    r"yeah,? (?:right|sure)|sure,? because|because i (?:just|so)|wow,)\b.*"
    r"\bi (?:\w+ )?(?:love|adore|enjoy|live for)\b"
    r"|^(?:(?:oh|sure|great|super|awesome|wonderful|fantastic|brilliant|perfect|lovely|yay|joy|nice|fine|ah),? )*i "
    r"(?:just |totally |really |absolutely |so )*(?:love|adore|enjoy) (?:being (?:woken|told|ignored|stuck|late|"
    r"ill|sick|broke|yelled|lied)|(?:doing|paying|filing) (?:my |the )*(?:taxes|paperwork|bills|expenses)|"
    r"getting up at|having to)|^(?:yeah|sure|right|of course),? i(?:'m| am) an? "
    r"(?:millionaire|billionaire|superhero|genius)"
    r"|\bi (?:just|so) (?:love|adore) (?:it when|waiting|being|standing|queu|paying|traffic|delays|bugs|crash)"
    r"|(?<=\s)/s\b|🙄|^yeah right\b|\b(?:and|when) pigs (?:can |will )?fly\b|"
    r"\band i(?:'m| am) the (?:queen|king|pope|tooth fairy)\b|"
    r"\bund ich bin der (?:kaiser von china|papst)\b|\bet moi,? je suis (?:le pape|la reine d'angleterre)\b|"
    r"\by yo soy (?:el papa|la reina)\b|\be io sono (?:il papa|la regina)\b|\be eu sou (?:o papa|a rainha)\b|"
    r"\ben ik ben de (?:paus|keizer van china)\b",
    re.IGNORECASE,
)


def own_sentences(text: str) -> Iterator[str]:
    """The sentences of a turn in which the user may speak of themselves, in order, without line ends."""
    plain = _without_pasted_text(_GAP.sub(" ", text.replace("’", "'")))
    for quote in _QUOTES:
        plain = quote.sub(_name_or_space, plain)
    plain = _ASIDE.sub("", _LINK.sub(" ", with_marked_asides(plain)))
    paragraphs = (
        complete(_said_by_user(paragraph))
        for paragraph in _BLANK_LINE.split(with_new_states(repair(without_jokes(plain))))
    )
    for sentence in outside_frames(paragraphs):
        if not _SARCASM.search(sentence):
            yield from (piece.strip() for piece in _PIECE.findall(sentence))


def _said_by_user(paragraph: str) -> Iterator[str]:
    """The sentences of a paragraph that nobody else says."""
    is_introduced = False
    for sentence in sentences_of(paragraph):
        is_introduced = is_introduced or introduces_next(sentence)
        for own in () if is_introduced else own_parts(sentence):
            parts = _CUT.split(own) if _MAY_CUT.search(own) and not opens_frame(own) else [own]
            yield from (part.strip() for part in parts if part.strip())


def _without_pasted_text(text: str) -> str:
    """The text without code, quoted lines, tagged blocks, transcripts, mails, texts to work on and system prompts."""
    text = without_prompt_in_parts(without_blocks(_CODE.sub(" ", _QUOTED_LINE.sub(" ", text)), _TAG))
    for heading in (_ROLE_LABEL, _MAIL, _FORWARDED, _MAIL_IN_A_LINE, _TEMPLATE):
        found = heading.search(text)
        text = text[: found.start()] if found else text
    text = _without_dialogue(text)
    is_prompt = _PERSONA.match(text) and len(_INSTRUCTION.findall(text)) > 1
    return "" if is_prompt or ("*" in text and _EMOTE.search(text)) else _without_material(text)


def _without_material(text: str) -> str:
    """The text without the paragraph that stands after "Translate this:" and similar instructions."""
    kept, at = [], 0
    for match in _MATERIAL.finditer(text):
        if match.start() >= at:
            kept.append(text[at : match.start()])
            end = text.find("\n\n", match.end())
            at = len(text) if end < 0 else end
    return "".join((*kept, text[at:]))


def _without_dialogue(text: str) -> str:
    """The text without the lines of a chat between people.

    Its lines have a time, or a name that occurs twice, or two names of which one says "I". Where each line asks
    something of the one it names, nobody but the user speaks.
    """
    lines = list(_SPEAKER.finditer(text))
    if all(addresses(line["said"]) and not line["time"] for line in lines):
        return text
    named = Counter(line["who"] for line in lines)
    speak = len(named) > 1 and any(_SPEECH.search(line["said"]) for line in lines)
    if not speak and not any(line["time"] or named[line["who"]] > 1 for line in lines):
        return _SPEAKER.sub(lambda line: " " if is_spoken_by_other(line["who"], line["said"]) else line[0], text)
    return _SPEAKER.sub(" ", text)


def _name_or_space(match: re.Match[str]) -> str:
    """The quoted text up to two words, which is a name; a space for a longer quote, which is another person's."""
    inside = match["inside"]
    return inside if len(inside.split()) <= 2 and not _SPEECH.search(inside) else " "
