"""Word lists of the rules: verbs, people, medical conditions. Each is a closed set of plain English."""

import re

from mnemoir.memory.facts.decide.predicates import predicate_words


def words(text: str) -> str:
    """A regular expression that matches any word of `text`, longest first; `_` stands for a space."""
    return "|".join(sorted((re.escape(w).replace("_", " ") for w in text.split()), key=len, reverse=True))


# Verbs of habits: the present tense alone makes a lasting statement.
NAMED = r"(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)?"
LASTING = words(
    """
    live work love like hate enjoy prefer dislike adore despise detest loathe speak play study teach own collect
    practise practice suffer commute volunteer coach paint knit freelance smoke drink eat avoid support
    believe_in identify specialise specialize homeschool breed brew sing meditate garden major_in celebrate
    """
)
# Verbs of single actions: only "every morning", "usually" or similar words make them a habit.
NO_HABIT = words(
    "think see know forget wonder get ask say mean guess need want try find feel hear understand keep wish agree have"
)
PAST = words(
    """
    worked lived studied taught founded cofounded co-founded joined graduated won published adopted bought sold
    emigrated immigrated served retired married grew_up broke lost invented wrote competed trained volunteered
    started began finished completed earned received trained
    """
)
ABLE = words(
    """
    play speak swim ski drive cook ride dance sing code program sail surf fly draw paint knit sew bake skate juggle
    snowboard read write_in touch_type understand run climb dive
    """
)
UNABLE = words(
    "stand eat drink swim drive ride cook digest tolerate have sleep ski dance sing hear see walk ride eat_any taste"
)
WISHED = words(
    """
    learn run visit become start buy move travel lose quit get_fit get_married get_better get_a get_into save retire
    study climb publish improve open adopt marry have_kids have_children stop live work_as work_at work_in work_for
    go_to see_the finish train build_a build_my write_a_book write_a_novel found cycle hike
    """
)
UNDERWAY = words(
    """
    learning studying training building developing working planning hoping saving preparing moving teaching raising
    recovering dating expecting renovating applying writing reading practising practicing retraining
    """
)
PEOPLE = predicate_words()["people"]
PETS = predicate_words()["pets"]
OWNED = words(
    """
    car house flat apartment garden bike bicycle motorbike motorcycle boat van truck piano guitar violin telescope
    camper tesla farm allotment camera drone laptop business company shop website blog podcast
    """
)
ATTRIBUTES = predicate_words()["attributes"]
CONDITIONS = words(
    """
    diabetes asthma adhd add epilepsy migraines migraine arthritis anxiety depression insomnia hypertension
    dyslexia autism allergies allergy intolerance disease condition disorder syndrome eczema psoriasis
    endometriosis tinnitus anemia anaemia cancer back_pain high_blood_pressure low_blood_pressure hay_fever
    bad_back bad_knee pacemaker hearing_aid
    """
)
DIETS = predicate_words()["diets"]
TRAITS = words(
    """
    diabetic coeliac celiac pregnant asthmatic dyslexic autistic colour-blind color-blind colourblind colorblind
    left-handed right-handed left_handed right_handed colour_blind color_blind ambidextrous deaf
    blind sober retired unemployed self-employed single married divorced
    engaged widowed gay lesbian bisexual straight transgender trans nonbinary non-binary muslim jewish hindu buddhist
    sikh atheist agnostic catholic protestant introverted extroverted bilingual trilingual gluten-free gluten_free
    lactose_intolerant gluten_intolerant lactose-intolerant gluten-intolerant dairy-free epileptic teetotal
    near-sighted short-sighted polyamorous asexual adopted neurodivergent vaccinated jobless anaemic anemic
    """
)
DEADLY = words(
    """
    nut peanut tree_nut hazelnut walnut cashew almond shellfish shrimp prawn crab lobster seafood fish egg milk dairy
    gluten wheat soy sesame celery mustard strawberries kiwi penicillin aspirin ibuprofen latex bee_sting wasp_sting
    """
)
AILMENTS = words(
    """
    car_sick carsick sea_sick seasick air_sick airsick travel_sick motion_sick motion_sickness migraine migraines
    heartburn panic_attacks nosebleeds hay_fever vertigo hives cold_sores
    """
)
FOODS = (
    "(?:"
    + words("dairy gluten lactose sugar spicy nuts meat seafood shellfish caffeine alcohol wheat soy eggs fish")
    + ")"
)
NATIONS = words(
    """
    american british english scottish welsh irish german austrian swiss french italian spanish portuguese dutch
    belgian
    danish swedish norwegian finnish icelandic polish czech slovak slovenian croatian serbian bosnian bulgarian
    romanian hungarian greek turkish russian ukrainian belarusian lithuanian latvian estonian albanian macedonian
    canadian mexican brazilian argentinian chilean peruvian colombian venezuelan cuban australian chinese japanese
    korean indian pakistani bangladeshi nepali thai vietnamese indonesian malaysian filipino singaporean taiwanese
    israeli palestinian lebanese syrian iraqi iranian egyptian moroccan tunisian algerian nigerian kenyan ethiopian
    ghanaian african european asian georgian armenian maltese luxembourgish kiwi
    """
)
LANGUAGES = words(
    """
    python java javascript typescript rust go c c++ c# ruby php swift kotlin sql haskell scala r matlab english german
    french spanish italian portuguese dutch russian chinese mandarin japanese korean arabic turkish polish swedish
    hindi latin greek hebrew esperanto sign_language html css bash linux excel photoshop blender
    """
)
EVENTS = words(
    """
    appointment meeting exam interview flight wedding surgery operation trip party concert race marathon conference
    presentation deadline date test birthday reservation vacation holiday match game checkup check-up audition
    """
)
NOT_A_KIND = words(  # "I'm a bit tired" says nothing that lasts
    """
    bit little lot few mess fool idiot genius moron wreck loser couple bad_person good_person stranger newbie_here
    """
)
EMPTY_OBJECT = (  # the "it" of "I like it" has no meaning in a later conversation
    r"(?:this|that|these|those|it|them|him|her|you|your|yours|how|what|when|where|which|why|one|both|neither|either|"
    r"none|some|something|anything|everything|nothing|another|more|to (?:see|know|hear|think|point|ask|say|be|thank)|"
    r"the (?:idea|way|first|second|third|last|other|new|sound|look|fact|answer|response|result|one|latter|former|"
    r"suggestion|plan|option|version|concept|part|example|following|above)|into|on (?:it|this|that))\b"
)
NAMELESS = words(
    "colour color season food drink sport animal fruit vegetable dessert hobby flavour flavor genre number meal"
)
ORDINARY = frozenset(  # "I'm Done" gives no name
    [
        "able",
        "absent",
        "afraid",
        "alive",
        "alone",
        "alright",
        "amazed",
        "angry",
        "annoyed",
        "anxious",
        "around",
        "ashamed",
        "asleep",
        "available",
        "awake",
        "aware",
        "away",
        "awful",
        "awesome",
        "back",
        "bad",
        "beautiful",
        "better",
        "big",
        "bipolar",
        "blessed",
        "blind",
        "blocked",
        "bored",
        "brave",
        "broke",
        "broken",
        "busy",
        "calm",
        "careful",
        "certain",
        "clean",
        "clear",
        "clever",
        "close",
        "cold",
        "confused",
        "content",
        "cool",
        "crazy",
        "curious",
        "dead",
        "deaf",
        "depressed",
        "desperate",
        "different",
        "disabled",
        "disappointed",
        "dizzy",
        "done",
        "down",
        "drunk",
        "early",
        "eager",
        "easy",
        "embarrassed",
        "empty",
        "excited",
        "exhausted",
        "extrovert",
        "famous",
        "fast",
        "fat",
        "fine",
        "finished",
        "first",
        "fit",
        "fixed",
        "flexible",
        "fluent",
        "free",
        "friendly",
        "frustrated",
        "full",
        "funny",
        "furious",
        "glad",
        "gone",
        "good",
        "grateful",
        "great",
        "guilty",
        "happy",
        "hard",
        "healthy",
        "here",
        "home",
        "honest",
        "hopeful",
        "hot",
        "hungry",
        "hurt",
        "ill",
        "impressed",
        "in",
        "injured",
        "inside",
        "interested",
        "introvert",
        "jealous",
        "jobless",
        "joking",
        "kidding",
        "kind",
        "last",
        "late",
        "lazy",
        "left",
        "lonely",
        "lost",
        "lucky",
        "mad",
        "mistaken",
        "moved",
        "nervous",
        "new",
        "nice",
        "normal",
        "nothing",
        "obsessed",
        "off",
        "ok",
        "okay",
        "old",
        "on",
        "open",
        "optimistic",
        "organised",
        "organized",
        "out",
        "over",
        "overwhelmed",
        "overworked",
        "pale",
        "patient",
        "perfect",
        "pleased",
        "poor",
        "positive",
        "pregnant",
        "prepared",
        "present",
        "proud",
        "quick",
        "quiet",
        "ready",
        "real",
        "relaxed",
        "relieved",
        "retired",
        "rich",
        "right",
        "sad",
        "safe",
        "scared",
        "sensitive",
        "serious",
        "shocked",
        "short",
        "shy",
        "sick",
        "silly",
        "simple",
        "single",
        "skeptical",
        "sleepy",
        "slow",
        "small",
        "smart",
        "sober",
        "sorry",
        "special",
        "stable",
        "strong",
        "stuck",
        "stupid",
        "sure",
        "surprised",
        "tall",
        "terrible",
        "thankful",
        "there",
        "thirsty",
        "through",
        "tired",
        "together",
        "torn",
        "trans",
        "trapped",
        "traveling",
        "travelling",
        "unable",
        "uncertain",
        "undecided",
        "unemployed",
        "unhappy",
        "unsure",
        "up",
        "upset",
        "used",
        "vegan",
        "warm",
        "weak",
        "weird",
        "welcome",
        "well",
        "widowed",
        "wise",
        "working",
        "worried",
        "wrong",
        "young",
        "yours",
        "autistic",
        "diabetic",
        "dyslexic",
        "gay",
        "bisexual",
        "straight",
        "queer",
        "human",
        "nobody",
        "somebody",
        "someone",
        "everybody",
        "everyone",
        "anybody",
        "anyone",
        "me",
        "you",
        "him",
        "her",
        "us",
        "them",
        "it",
        "today",
        "tomorrow",
        "yesterday",
        "now",
        "later",
        "soon",
        "help",
        "hello",
        "hi",
        "hey",
        "thanks",
        "yes",
        "no",
    ]
)
