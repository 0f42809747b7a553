"""Dutch phrases of important messages and of small talk."""

from mnemoir.conversations.windows.importance_cues.cues import Cues

_MONTH = (
    r"(?:januari|jan\.|februari|feb\.|maart|april|mei|juni|juli|augustus|aug\.|september|sept?\.|oktober|okt\."
    r"|november"
    r"|december|dec\.)"
)
_DAY = r"(?:maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag)(?:en|s)?"
_MINE = (  # people and things of a person, as subjects of facts
    r"(?:vrouw|man|partner|vriend(?:in)?|zoon|zonen|dochters?|kind|kinderen|baby|broers?|broer|zus(?:sen)?"
    r"|zusje|moeder"
    r"|mama|vader|papa|ouders|oma|opa|oom|tante|neef|nicht|baas|manager|collega['’]?s?|team|bedrijf|hond(?:en)?"
    r"|kat(?:ten)?|dokter|huisarts|tandarts|huisbaas|verjaardag|bruiloft|trouwdag|adres|e-?mail|mailadres"
    r"|telefoonnummer"
    r"|nummer|naam|achternaam|baan|vlucht|budget|salaris|huur|auto|huis|appartement|knie|rug|hart|been|arm"
    r"|bijnaam|doel"
    r"|dieet|beroep|moedertaal|fiets)"
)
_I_AM = (
    r"(?:ingenieur|leraar|lerares|docent|verpleegkundige|verpleger|arts|dokter|ontwerper|ontwikkelaar|programmeur"
    r"|student|studente|advocaat|advocate|schrijver|schrijfster|boekhouder|kok|architect|piloot|chauffeur|muzikant"
    r"|onderzoeker|elektricien|timmerman|vegetari[ëe]r|veganist|vegetarisch|diabeet|getrouwd|gescheiden|vrijgezel"
    r"|zwanger|met pensioen|kleurenblind|linkshandig|allergisch|geboren|opgegroeid|\d+ jaar)"
)
_DECIDE = (
    r"(?:gebruiken|kiezen|nemen|kopen|boeken|reserveren|bestellen|annuleren|afzeggen|uitstellen|verzetten|sturen"
    r"|versturen|overstappen|wisselen|houden|verkopen|tekenen|ondertekenen|opzeggen|verhuizen|leveren|lanceren"
    r"|aannemen"
    r"|stoppen|beginnen|blijven bij|betalen|inleveren)"
)

DUTCH = Cues(
    remember=(
        r"\b(?:onthoud|onthou|onthoudt u)\b|\bvergeet (?:alsjeblieft |alstublieft |a\.?u\.?b\.? )?niet\b"
        r"|\bniet vergeten\b",
        r"\b(?:houd|hou|houdt u) .{0,25}\b(?:in gedachten|rekening mee|in je achterhoofd)\b|\bdenk er ?aan\b"
        r"|\bnoteer\b|\bschrijf (?:dit |het )?op\b",
        r"\bvanaf nu\b|\bvoortaan\b|\bbelangrijk:|\bvoor de duidelijkheid\b",
    ),
    decision=(
        r"\b(?:besloten|afgesproken|gekozen|overeengekomen|vastgelegd|besluit(?:en)?|beslist)\b(?! (?:wat|hoe)\b)",
        r"\b(?:we|wij|ik) (?:gaan|ga|zullen|zal) .{0,60}\b" + _DECIDE + r"\b|\b(?:we|wij|ik) gaan? (?:voor|met)\b"
        r"|\b(?:we|wij) (?:blijven bij|kiezen|nemen|houden het)\b|\blaten we .{1,40}\b" + _DECIDE + r"\b",
        r"\b(?:ik|we|wij) (?:annuleer|boek|koop|verkoop|bestel|teken|stuur|lever|verhuis|kies|kies voor|neem ontslag"
        r"|zeg .{1,30} op|betaal|stap over|stappen over|gebruiken voortaan)\b",
        r"\b(?:stellen|zeggen|blazen|sluiten|schaffen) we .{1,40}\b(?:uit|af|aan)\b",
        r"\b(?:ik beloof|ik verbind me|we beloven)\b|\b(?:dat|het) staat vast\b"
        r"|\b(?:mijn|onze|het|de) (?:definitieve )?(?:beslissing|besluit|keuze)(?: is|:)|\bafgesproken:|\bbesluit:",
    ),
    fact=(
        # names, people, places, work
        r"\bik heet\b|\bmijn naam is\b|\bnoem me\b|\bik (?:woon|werk|leef|studeer|kom uit|speel|rijd|rij|spreek"
        r"|geef les|doceer)\b",
        r"\bik ben (?:\w+ ){0,3}" + _I_AM + r"\b|\bik ben in .{1,40}\b(?:geboren|opgegroeid)\b"
        r"|\bik ben .{0,20}jaar oud\b",
        r"\b(?:mijn|m['’]n|onze|ons) (?:\w+ ){0,2}"
        + _MINE
        + r"(?: [\w'’-]+){0,3} (?:is|zijn|was|heet|heten|heeft|hebben|woont|wonen|werkt|werken|begint|vertrekt|wordt"
        r"|valt|trouwt)\b",
        r"\bik heb (?:een|één|twee|drie|vier|\d+) (?:[\w-]+ ){0,2}(?:hond(?:en)?|kat(?:ten)?|kind(?:eren)?|zoon|zonen"
        r"|dochters?|broers?|zus(?:sen)?|\w*allergie\w*)\b|\bik heb (?:astma|diabetes|hoogtevrees|suikerziekte)\b",
        # preferences
        r"\bik (?:haat|vermijd|hou (?:niet |erg |veel )?van|prefereer)\b(?! (?:dat|dit|het|je)\b)|\bik vind .{1,40}\b"
        r"(?:vies|heerlijk|vreselijk|niet lekker|het lekkerst|fijner|leuker)\b",
        r"\bfavoriete?\b|\bliever\b|\bhet liefste?\b|\bik .{1,30}\b(?:altijd|nooit|alleen maar)\b|\blievelings",
        # constraints
        r"\b(?:allergisch|intolerant)\b|\bik (?:eet|drink|rook|rijd|mag|kan|werk|vlieg) (?:\w+ )?(?:geen|nooit"
        r"|niet)\b(?! (?:geloven|wachten)\b)",
        r"\b(?:moet|moeten|mag|mogen)\b.{0,60}\b(?:zijn|kosten|blijven|passen|werken|aankomen|duren|klaar|af)\b",
        r"\b(?:maximaal|minimaal|hoogstens|minstens|niet meer dan|minder dan|uiterlijk(?: op)?|tot en met|v[óo][óo]r)"
        r" [\d€$]",
        r"\b(?:deadline|termijn)\b.{0,40}\b(?:is|op|loopt)\b|\b(?:verloopt|eindigt|begint) op\b",
        r"\b(?:elke|iedere|alleen op|nooit op|niet op|behalve op) " + _DAY + r"\b",
        # dates, times, amounts
        r"\b\d{1,2} " + _MONTH + r"|\bom \d{1,2}(?:[:.]\d\d)?(?: ?uur|u\b)|\bom (?:half )?\w+ uur\b",
        r"€ ?\d|\b\d[\d.,]* ?(?:€|euro|dollar|personen|mensen|gasten|kg|km)(?!\w)",
    ),
    correction=(
        r"^(?:nee|wacht|sorry|eigenlijk)\b.{1,60}\b(?:niet|maar|bedoelde|is|was|zijn)\b",
        r"\bik bedoelde\b|\bik (?:heb me|had me|vergiste me|zat) .{0,15}(?:vergist|fout|ernaast)\b|\bik vergiste me\b"
        r"|\bcorrectie\b|\bfoutje\b",
        r"\bdat (?:klopt niet|is (?:niet juist|niet waar|fout|onjuist|verkeerd))\b"
        r"|\beigenlijk (?:is|heet|zijn|was|mijn|het|ik)\b",
    ),
    offer=(
        r"\blaat (?:het )?(?:me|maar) (?:gerust )?weten\b|\b(?:wil je|wilt u|zou je|zal ik)\b|\bals je (?:wilt|wil)\b"
        r"|\bals u (?:wilt|wenst)\b",
        r"\bik (?:kan|zal|help|leg|ga) .{0,30}\b(?:helpen|uitleggen|laten zien|proberen|je|u)\b",
    ),
    small_talk=(
        r"hallo|hoi|hey|hé|goede(?:morgen|middag|navond|nacht)|goede(?:nmorgen|nmiddag)|goeden(?:avond|dag)|dag|doei"
        r"|doeg|tot (?:ziens|straks|morgen|later|snel)|welterusten|slaap lekker",
        r"(?:heel erg )?bedankt|dank (?:je|u)(?: wel)?|dankjewel|dankuwel|bedankt|graag gedaan|geen (?:probleem|dank)"
        r"|alsjeblieft|alstublieft|oké|oke|ok|ja|nee|prima|goed|mooi|leuk|super|top|geweldig|perfect|fijn|lekker",
        r"begrepen|snap ik|ik snap het|ik begrijp het|duidelijk|klopt|precies|inderdaad|natuurlijk|zeker|helemaal|hoe"
        r"|gaat|het|ermee|met|jou|u|je|en|ah|oh|haha|hm+|hè|heel|erg|zo|dat|is|was|die|dit|voor|de|hulp|uitleg"
        r"|interessant",
        r"grappig|handig|aardig|nu|vandaag|weer|volgende|klinkt|ook|mij|ik|fijne|prettige|avond|weekend|idee|een|vind"
        r"|wat|warm|koud|zeg|wel|nog|veel|plezier|succes",
    ),
)
