"""Words that say nothing about the subject of a question, by language (ISO 639-1).

They serve search, which leaves them out of a question, and the test for English, which counts them.
"""

# The short ones at the end are the remains of n't, 'll, 've after an apostrophe.
_ENGLISH = """
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves this that these those who whom whose which what
a an the some any each every such own same other another both few more most all no nor not only
am is are was were be been being do does did doing done have has had having
can could shall should will would may might must ought cannot
and or but if then than so because as until while although though
of at by for with about against between into through during before after above below to from up down in out on off
over under within without upon
again further once here there when where why how too very just also ever
d ll m re s t ve don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn ain
let please tell
"""
_GERMAN = """
der das den dem des die ein eine einen einem einer eines ich du er sie es wir ihr mich mir dich dir ihn ihm uns euch
sich mein meine meinen meiner dein deine sein seine ihre ihren unser ist sind bin bist war waren hat hast habe haben
wird werden wurde kann kannst soll muss und oder aber nicht kein keine was wie wo wer wann warum welche welcher
welches welchen auf aus bei in an mit nach von zu zum zur im am vom beim als auch noch nur schon so sehr immer jeden
jede bitte
"""
_FRENCH = """
le la les un une des de du je tu il elle on nous vous ils elles me te se mon ma mes ton ta tes son sa ses notre
votre leur est sont suis es sommes a avons ont ai as et ou mais pas ne que qui quoi quel quelle quels quelles où
dans en sur avec par pour sans chez à aux au ce cet cette ces très plus aussi toujours chaque comme
"""
_SPANISH = """
el la los las un una unos unas de yo tú él ella nosotros ellos me te se le lo mi mis tu tus su sus soy eres es somos
son está están estoy tiene tengo hay y o pero no que qué quien quién cual cuál cuando cuándo donde dónde como cómo
por para con sin en a del al más muy también siempre todos todas cada
"""
_ITALIAN = """
il lo la i gli le un uno una di a da in con su per tra fra io tu lui lei noi voi loro mi ti si mio mia miei tuo tua
suo sua sono sei è siamo ho hai ha hanno e o ma non che chi cosa quale quali quando dove come perché del della dello
delle degli dei nel nella al alla sul sulla più molto anche sempre ogni
"""
_PORTUGUESE = """
o a os as um uma eu tu ele ela nós eles me te se meu minha teu seu sua é são sou és estou está tem tenho e ou mas
não que quem qual onde quando como porque por para com sem de do da dos das em no na nos nas ao à mais muito também
sempre todos todas cada
"""
_DUTCH = """
de het een ik jij je hij zij ze wij we mijn jouw zijn haar ons onze is was ben bent heeft heb hebben wordt worden
kan moet en of maar niet geen wat waar wie wanneer waarom hoe welke op uit bij met naar van voor om te aan in als
dat die dit er ook nog altijd elke
"""
_POLISH = """
w z i a o od do po za na się nie to jest są jestem ma mam jak gdzie kto co kiedy dlaczego czy ale lub jego jej on
ona mój moja dla przez przy bardzo zawsze każdy
"""
_TURKISH = """
bir ve bu şu o ben sen biz siz onlar benim senin onun için ile de da ne değil var yok mı mi mu mü nerede kim nasıl
çok daha her gibi ama
"""
_RUSSIAN = """
я ты он она оно мы вы они меня мне тебя тебе его ему её неё него ней ним ее ей нас вас их им мой моя мои твой твоя
свой своя свою наш ваш и а но или не ни в во на с со к ко у о об от до по за из для при без над под это этот эта эти
тот та те что чего чем кто кого кому как какой какая какое какие какую где куда когда почему зачем ли бы же есть был
была были быть будет очень тоже также ещё еще уже только всегда каждый
"""
_ARABIC = """
في من إلى على عن مع بين هو هي هم هن أنا أنت نحن هذا هذه ذلك تلك التي الذي ما ماذا من هل أين متى كيف لماذا أي كم كان
كانت يكون لا لم لن ليس و أو ثم أن إن قد كل لها له لهم لي لك
"""
# Of languages that have no list of their own: enough to tell them from English.
_FURTHER = """
jag är och inte det som på av att för med har hon han jeg og ikke af at hun minä olen on ei ja hän että se já jsem
že s si nem egy az és hogy în și este nu care sunt saya yang dan tidak ini itu dengan untuk sem
"""

_ELIDED = "c d j l m n qu s t"  # before an apostrophe

ENGLISH = frozenset(_ENGLISH.split())
BY_LANGUAGE = {
    "en": ENGLISH,
    "de": frozenset(_GERMAN.split()),
    "fr": frozenset(_FRENCH.split()),
    "es": frozenset(_SPANISH.split()),
    "it": frozenset(_ITALIAN.split()),
    "pt": frozenset(_PORTUGUESE.split()),
    "nl": frozenset(_DUTCH.split()),
    "pl": frozenset(_POLISH.split()),
    "tr": frozenset(_TURKISH.split()),
    "ru": frozenset(_RUSSIAN.split()),
    "ar": frozenset(_ARABIC.split()),
}
OTHERS = frozenset(_FURTHER.split()).union(*(words for language, words in BY_LANGUAGE.items() if language != "en"))
for _language in ("fr", "it"):
    BY_LANGUAGE[_language] |= frozenset(_ELIDED.split())
