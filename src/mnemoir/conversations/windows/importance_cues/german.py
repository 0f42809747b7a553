"""German phrases of important messages and of small talk."""

from mnemoir.conversations.windows.importance_cues.cues import Cues

_MONTH = (
    r"(?:januar|jänner|jan\.|februar|feb\.|märz|april|apr\.|mai|juni|juli|august|aug\.|september|sept?\."
    r"|oktober|okt\."
    r"|november|nov\.|dezember|dez\.)"
)
_DAYS = (
    r"(?:montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?"
    r"|vormittags|nachmittags|abends|morgens)"
)
_MINE = (  # people and things of a person, as subjects of facts
    r"(?:frau|mann|partner(?:in)?|freund(?:in)?|sohn|tochter|kind(?:er)?|baby|bruder|schwester|mutter|mama|vater|papa"
    r"|eltern|oma|opa|onkel|tante|chef(?:in)?|kolleg(?:e|in)|hund|katze|ärztin|arzt|zahnarzt|vermieter(?:in)?"
    r"|team|firma"
    r"|geburtstag|hochzeit|adresse|e-?mail|telefonnummer|handynummer|nummer|name|nachname|flug|budget|gehalt"
    r"|miete|auto"
    r"|haus|wohnung|knie|rücken|herz|bein|arm|beruf|ziel|muttersprache|job)"
)
_DECIDE = (
    r"(?:nehmen?|buchen?|kaufen?|kündigen?|wechseln?|wechsle|verschieben?|schicken?|sende|liefern?|liefere"
    r"|übernehmen?"
    r"|unterschreiben?|bestellen?|stornieren?|streichen?|starten?|verkaufen?|behalten?|wählen?|stellen? um)"
)

GERMAN = Cues(
    remember=(
        r"\bmerk(?:e|en)? (?:es )?(?:dir|ihnen|sie sich|euch)\b|\bbitte merken\b|\bnotier",
        r"\b(?:vergiss|vergesst|vergessen sie) (?:bitte )?nicht\b|\bnicht vergessen\b",
        r"\bbehalten?\b.{0,20}\bim (?:kopf|hinterkopf)\b|\bdenke? (?:bitte )?(?:daran|dran)\b|\bab jetzt\b"
        r"|\bwichtig:",
    ),
    decision=(
        r"\b(?:wir|ich) (?:haben?|entscheiden?|einigen) (?:uns|mich)\b.{0,60}\b(?:für|gegen|auf|entschieden"
        r"|geeinigt)\b",
        r"\b(?:entschieden|beschlossen|vereinbart|abgemacht|festgelegt|geeinigt|endgültig|beschluss)\b",
        r"\b(?:dann|also) (?:nehmen|machen|bleiben|gehen|buchen|kaufen) wir\b|\bwir bleiben (?:bei|dabei)\b",
        r"\b(?:ich|wir) (?:werden? )?"
        + _DECIDE
        + r"\b(?!.{0,30}\bimmer\b)|\bich verspreche\b|\blass(?:t)? uns .{1,40} nehmen\b",
    ),
    fact=(
        # names, people, places, work
        r"\bich (?:heiße|wohne|arbeite|lebe|komme aus|studiere|unterrichte|spiele|fahre|spreche)\b"
        r"|\bnenn(?:en sie)? mich\b",
        r"\bich bin (?:\w+ )?(?:vegetarier(?:in)?|veganer(?:in)?|verheiratet|geschieden|ledig|schwanger"
        r"|diabetiker(?:in)?"
        r"|farbenblind|linkshänder(?:in)?|rentner(?:in)?|lehrer(?:in)?|ärztin|arzt|pfleger(?:in)?"
        r"|ingenieur(?:in)?|student(?:in)?"
        r"|koch|köchin|entwickler(?:in)?|tischler(?:in)?|\d+ jahre|aus|von beruf|seit)\b",
        r"\bich (?:wurde|bin|habe) .{0,40}\b(?:geboren|aufgewachsen|gezogen|studiert|gelernt|gearbeitet|gewohnt)\b",
        r"\b(?:mein|unser)(?:e|er|en|em)? (?:\w+ ){0,2}"
        + _MINE
        + r"(?: [\w-]+){0,3}? (?:ist|sind|heißt|heißen|hat|wohnt|lebt"
        r"|arbeitet|wird|geht|lautet|beginnt)\b",
        r"\b(?:mein|unser)(?:e|er|en|em)? " + _MINE + r"\b.{0,30}\bgeburtstag\b",
        r"\bich habe (?:einen?|zwei|drei|vier|\d+) (?:\w+ ){0,2}(?:hunde?|katzen?|kind(?:er)?|söhne?|sohn"
        r"|töchter|tochter"
        r"|brüder|bruder|schwestern?|\w*allergie\w*|asthma)\b|\bich habe (?:\w*schicht|diabetes|asthma|höhenangst)\b",
        # preferences
        r"\bich (?:mag|bevorzuge|hasse|liebe|trinke|esse|vertrage|rauche)\b(?! (?:es|das|dein\w*)\b)|\bam liebsten\b",
        r"\bmein\w* lieblings|\blieber\b.{0,40}\bals\b|\bich .{1,30}\b(?:grundsätzlich|niemals|nie|nur|immer)\b",
        # constraints
        r"\ballergisch\b|\bich (?:darf|kann) (?:\w+ ){0,3}(?:kein\w*|nie|nur)\b|\bgrundsätzlich (?:nie|nicht"
        r"|kein\w*)\b",
        r"\b(?:höchstens|maximal|mindestens|spätestens|(?:nicht )?mehr als|bis zu|unter) [\d€]",
        r"\b(?:muss|müssen|darf|dürfen)\b.{0,60}\b(?:sein|laufen|bleiben|passen|kosten|fertig|unterstützen"
        r"|ankommen)\b",
        r"frist\b.{0,40}\b(?:ist|endet)\b|\b(?:fällig|läuft ab|endet|beginnt) am\b",
        r"\b" + _DAYS + r"\b.{0,30}\b(?:nie|nicht|keine?|nur|immer)\b|\b(?:nie|nur|immer) " + _DAYS + r"\b",
        r"\b(?:knie|rücken|bein|arm|fuß|schulter) ist (?:verletzt|gebrochen|kaputt|operiert)\b",
        # dates, times, amounts, addresses
        r"\b\d{1,2}\. ?" + _MONTH + r"|\bum \d{1,2}(?:[:.]\d\d)? ?uhr\b|\b\d{1,2}\.\d{1,2}\.(?:\d{2,4})?",
        r"\b\d[\d.,]* ?(?:€|euro|franken|personen|leute|gäste)(?!\w)",
    ),
    correction=(
        r"^(?:nein|halt|moment|sorry|ne)\b.{1,60}\b(?:nicht|sondern|meinte|ist|war|sind)\b|\bich meinte\b"
        r"|\bkorrektur\b",
        r"\bdas (?:stimmt (?:so )?nicht|ist (?:so )?(?:nicht richtig|falsch))\b|\bsondern\b",
        r"\bich habe mich (?:vertan|geirrt|versprochen|verschrieben)\b|\beigentlich (?:ist|sind|heißt|heiße|war)\b",
    ),
    offer=(
        r"\bsag(?:en sie)? (?:mir )?(?:einfach )?bescheid\b|\bkann ich (?:dir|ihnen)\b|\bmöchte(?:st du|n sie)\b",
        r"\bich (?:helfe|erkläre|zeige|versuche)\b|\bwenn du (?:willst|möchtest)\b",
    ),
    small_talk=(
        r"hallo|moin|servus|guten (?:tag|morgen|abend)|gute nacht|tschüss|bis (?:bald|später|morgen|dann)|ciao|na",
        r"vielen dank|danke(?:schön)?|bitte(?:schön)?|gern(?:e)?(?: geschehen)?|kein problem|keine ursache",
        r"ja|nein|klar|genau|stimmt|alles|verstehe|verstanden|super|toll|prima|klasse|passt|gut|sehr"
        r"|in ordnung|schön",
        r"ach so|wie geht(?:'s| es)|mir geht(?:'s| es)|bei|dir|ihnen|euch|für|die|deine|hilfe|das|ist|war|hat"
        r"|mir|geholfen",
        r"freut mich|hört sich|klingt|an|einen|schönen|dann|noch|auch|lustig|interessant|hm|weiter|gefällt"
        r"|jetzt|heute|tag",
    ),
)
