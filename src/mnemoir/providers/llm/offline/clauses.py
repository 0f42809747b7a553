"""Splitting of a user's text into clauses that can each hold one statement.

Quotes, code, questions and hypothetical sentences are removed here, so that the rules need not handle them.
Contractions are written out, which halves the number of rules.
"""

import re
from collections.abc import Iterator

_GAP = re.compile(r"[^\S\n]+")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED_LINE = re.compile(r"^\s*>.*$", re.MULTILINE)
_QUOTE = re.compile(r"[\"“„«](?P<inside>[^\"”“»\n]{1,2000})[\"”“»]")
_LINK = re.compile(r"https?://\S+")
_ASIDE = re.compile(r"\s*\([^()]*\)")
_SENTENCE_END = re.compile(r"(?<!\b[A-Z])(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)(?<=[.!?…])\s+|\n+|;\s*")
_IMAGINED = re.compile(
    r"\b(?:if (?:i|we|my|it|you|he|she|they)|imagine|suppose|supposing|pretend|let'?s say|hypothetically|i wish|"
    r"as if|role-?play|for example|e\.g\.|act as|you are|say i|what if|in the (?:story|novel|scene))\b",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"^(?:what|how|why|when|where|which|who|whose|whom|can|could|would|will|should|shall|do|does|did|is|are|was|were|"
    r"am|have|has|may|might|any|got any|please(?! (?:call|remember|note|keep|bear|do not forget|don't forget|"
    r"make a note))|tell me|give me|show me|help me|suggest|recommend|write|explain|"
    r"let me know|let's|translate|make me|find)\b(?! i (?:was|am) (?:a|an)\b)",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"(?:,\s*|\s+)(?:and|but|so|because|since|while|although|though|plus|then|as)\s+(?=(?:also\s+)?(?:i|my|"
    r"we|our|im|ive)\b)"
    r"|,\s*(?=(?:i|my|we|im|ive|please|what|how|which|where|when|why|can|could|would|any)\b)"
    r"|(?:,\s*|\s+)(?:and|but|so)\s+(?=(?:it|that|this|he|she|they|you|let's|it's|that's)\b)"
    r"|,\s*(?=(?:it's|it is|it was|that's|you|he|she|they)\b)"
    r"|\s+[-–—]+\s+|(?<=[a-z]):\s+(?=(?:i|my)\b)|,?\s+(?=so (?:what|how|which|where|please|can|could)\b)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:(?:hi|hello|hey|hallo|good (?:morning|evening|afternoon))(?: there| all| everyone| everybody| "
    r"again)?|well|so|also|actually|btw|by the way|fyi|oh|ah|yes|yeah|"
    r"yep|no|nope|ok|okay|sure|thanks|thank you|and|but|because|since|as|to be honest|honestly|personally|basically|"
    r"in general|in fact|as you know|you know|just so you know|for context|for the record|for your information|"
    r"i should (?:mention|say|add)(?: that)?|i must (?:say|admit)(?: that)?|i have to (?:say|admit)(?: that)?|"
    r"i forgot to (?:say|mention)(?: that)?|it turns out(?: that)?|i just wanted to say(?: that)?|now|nowadays|"
    r"these days|unfortunately|luckily|sadly|fortunately|then|apparently)\b[\s,!.:]*)+",
    re.IGNORECASE,
)
_WRITTEN_OUT = (
    (re.compile(r"\b(?:i'm|im)\b", re.IGNORECASE), "I am"),
    (re.compile(r"\b(?:i've|ive)\b", re.IGNORECASE), "I have"),
    (re.compile(r"\bi'll\b", re.IGNORECASE), "I will"),
    (re.compile(r"\bi'd (?=like|love|prefer|rather|be)", re.IGNORECASE), "I would "),
    (re.compile(r"\bi'd (?=\w+ed\b|been|never)", re.IGNORECASE), "I had "),
    (re.compile(r"\bwe're\b", re.IGNORECASE), "we are"),
    (re.compile(r"\bwe've\b", re.IGNORECASE), "we have"),
    (re.compile(r"\bname's\b", re.IGNORECASE), "name is"),
    (re.compile(r"\b(?:can't|can not)\b", re.IGNORECASE), "cannot"),
    (re.compile(r"\b(do|does|did|is|are|was|have|has) not\b", re.IGNORECASE), r"\1n't"),
    (re.compile(r"\bi\b"), "I"),
    (re.compile(r"\bmy (?:wife|husband|partner|girlfriend|boyfriend|family) and I\b", re.IGNORECASE), "we"),
    (re.compile(r"\bI amn't\b"), "I am not"),
)
_LONGEST_CLAUSE = 400  # characters; no statement is longer, and the rules must stay fast on pasted text
_MOST_CHARACTERS = 20_000  # of one turn; statements about oneself usually stand before pasted text


def clauses(text: str) -> Iterator[str]:
    """The clauses of a text, contractions written out, edges trimmed; "remember that …" keeps its opening."""
    for sentence in _sentences(text[:_MOST_CHARACTERS]):
        if _IMAGINED.search(sentence):
            continue
        pieces = [trimmed(piece) for piece in _BREAK.split(_written_out(sentence))]
        told = _before_question(pieces, sentence.endswith("?"))
        yield from (piece for piece in told if 0 < len(piece) <= _LONGEST_CLAUSE)


def trimmed(clause: str) -> str:
    """The clause without greeting, filler words and closing punctuation."""
    bare = _LEAD.sub("", clause.strip())
    return bare.strip(" \t,.!?…;:*_~-–—()")


def _sentences(text: str) -> Iterator[str]:
    evened = _GAP.sub(" ", text.replace("’", "'"))
    plain = _CODE.sub(" ", _QUOTED_LINE.sub(" ", evened))
    plain = _ASIDE.sub("", _LINK.sub(" ", _QUOTE.sub(_unquoted, plain)))
    for sentence in _SENTENCE_END.split(plain):
        if sentence and sentence.strip():
            yield sentence.strip()


def _unquoted(match: re.Match[str]) -> str:
    """The quoted text up to two words, which is a name; a space for a longer quote, which is another person's."""
    return match["inside"] if len(match["inside"].split()) <= 2 else " "


def _written_out(sentence: str) -> str:
    for pattern, full in _WRITTEN_OUT:
        sentence = pattern.sub(full, sentence)
    return sentence


def _before_question(pieces: list[str], is_question: bool) -> list[str]:
    """The clauses before the first one that asks; none when the whole sentence is a question."""
    asking = next((at for at, piece in enumerate(pieces) if _ASKING.match(piece)), None)
    if asking is None:
        return [] if is_question else pieces
    return pieces[:asking]
