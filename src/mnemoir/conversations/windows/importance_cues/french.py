"""French phrases of important messages and of small talk."""

from mnemoir.conversations.windows.importance_cues.cues import Cues

_MONTH = (
    r"(?:janvier|janv\.|février|fevrier|févr\.|mars|avril|mai|juin|juillet|juil\.|août|aout|septembre|sept\.|octobre"
    r"|oct\.|novembre|nov\.|décembre|decembre|déc\.)"
)
_DAY = r"(?:lundis?|mardis?|mercredis?|jeudis?|vendredis?|samedis?|dimanches?)"
_MINE = (  # people and things of a person, as subjects of facts
    r"(?:femme|mari|époux|épouse|compagne|compagnon|copine|copain|fils|fille|filles|enfants?|bébé|frères?"
    r"|sœurs?|soeurs?"
    r"|mère|maman|père|papa|parents|grand-\w+|oncle|tante|cousine?|chef|patronne?|responsable|collègues?|équipe"
    r"|entreprise|société|chiens?|chats?|médecin|dentiste|propriétaire|anniversaire|mariage|adresse|e-?mail|mail"
    r"|téléphone|numéro|nom|prénom|poste|vol|budget|salaire|loyer|voiture|maison|appartement|genou|dos|cœur|coeur"
    r"|jambe|bras|pseudo|objectif|régime|langue maternelle|métier|vélo)"
)
_I_AM = (
    r"(?:ingénieure?|enseignante?|professeure?|prof|infirmière?|infirmier|médecin|designer|développeu(?:r|se)"
    r"|étudiante?|avocate?|écrivaine?|comptable|cuisini(?:er|ère)|architecte|pilote|musicienne?|chercheu(?:r|se)"
    r"|électricienne?|menuisi(?:er|ère)|végétarienne?|végane?|diabétique|mariée?|divorcée?|célibataire|enceinte"
    r"|retraitée?|daltonienne?|gauch(?:er|ère)|asthmatique|née?|originaire)"
)
_DECIDE = (
    r"(?:prendre|utiliser|choisir|acheter|réserver|commander|annuler|reporter|repousser|envoyer|passer|garder|vendre"
    r"|signer|démissionner|déménager|livrer|lancer|embaucher|recruter|arrêter|partir sur|rester (?:sur|à)|migrer)"
)

FRENCH = Cues(
    remember=(
        r"\b(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez)\b",
        r"\bn['’]oublie(?:z)? (?:pas|jamais)\b|\bne pas oublier\b",
        r"\b(?:garde|gardez|garder) .{0,20}\b(?:en tête|à l['’]esprit|en mémoire)\b",
        r"\b(?:note|notez) (?:bien )?(?:que|ceci|cela|ça|bien)\b|\bmémorise",
        r"\bà partir de maintenant\b|\bdorénavant\b|\bdésormais\b|\bimportant ?:|\bpour mémoire\b",
    ),
    decision=(
        r"\b(?:avons|a|ai|ont|sommes|est|suis|sont) (?:\w+ ){0,2}(?:décidée?s?|choisie?s?|convenue?s?|opté"
        r"|tranché|mise?s? d['’]accord)\b",
        r"\b(?:je|on|nous) (?:vais|va|allons) (?:\w+ )?" + _DECIDE + r"\b|\ballons-y pour\b",
        r"\b(?:on|nous) (?:part|partons|prend|prenons|garde|gardons|reste|restons|annule|annulons|reporte|reportons"
        r"|passe|passons|choisit|choisissons)\b(?! (?:me|te|vous)\b)",
        r"\b(?:j['’]|je (?:\w+ )?|nous |on )(?:(?:en|l|re)?(?:verr|prendr|utiliser|livrer|achèter|acheter|réserver"
        r"|commander|annuler|signer|terminer|finir|garder|paier|rendr|fer)(?:ai|ons|a)"
        r"|promets|promettons|m['’]engage|annule|réserve|démissionne|choisis|opte)\b",
        r"\bc['’]est (?:décidé|réglé|entendu|convenu|tranché)\b|\b(?:ma|notre|la) décision (?:finale|est)\b"
        r"|\bdécision ?:|\bconvenu ?:|\bva pour\b",
    ),
    fact=(
        # names, people, places, work
        r"\bje m['’]appelle\b|\bappelle(?:z)?-moi\b|\bmon nom est\b|\bj['’](?:habite|étudie|enseigne)\b",
        r"\bje (?:vis|travaille|viens de|parle|joue|conduis|bosse)\b"
        r"|\bj['’]ai (?:grandi|étudié|travaillé|déménagé)\b",
        r"\bje suis (?:\w+ )?(?:une? )?" + _I_AM + r"\b|\bj['’]ai \d+ ans\b",
        r"\b(?:mon|ma|mes|notre|nos) (?:\w+ ){0,2}"
        + _MINE
        + r"(?: [\w'’-]+){0,3} (?:est|sont|était|s['’]appelle(?:nt)?|a|ont|habite(?:nt)?|vit|vivent|travaille(?:nt)?"
        r"|commence|part|fête|aura|tombe)\b",
        r"\bj['’]ai (?:une?|deux|trois|quatre|\d+) (?:[\w-]+ ){0,2}(?:chiens?|chats?|enfants?|fils|filles?|frères?"
        r"|sœurs?|soeurs?|allergies?|maladie)\b|\bj['’]ai (?:de l['’]asthme|du diabète|le vertige)\b",
        # preferences
        r"\bje (?:préfère|déteste|adore|aime|évite|n['’]aime)\b(?! (?:bien )?(?:ça|cela|cette idée|ton|ta|votre)\b)",
        r"\b(?:préférée?s?)\b|\bje .{1,40}\b(?:toujours|jamais|uniquement)\b|\bplutôt que\b",
        # constraints
        r"\b(?:allergique|intolérante?)\b|\bje ne (?:mange|bois|fume|conduis|supporte|peux|dois|travaille|prends)"
        r" (?:pas|plus|jamais|que)\b(?! (?:croire|attendre)\b)",
        r"\b(?:doit|doivent|ne doit pas|faut que)\b.{0,40}\b(?:être|rester|tenir|coûter|arriver|finir|fonctionner"
        r"|dépasser|soit|reste)\b",
        r"\b(?:au (?:plus|maximum|moins)|maximum|minimum|pas plus de|moins de|jusqu['’]à|avant le|au plus tard"
        r"(?: le)?) [\d€$]",
        r"\b(?:date limite|échéance|délai)\b.{0,40}\b(?:est|le|au|fixée?)\b|\b(?:expire|se termine|commence) le\b",
        r"\b(?:tous les|chaque|uniquement le|seulement le|jamais le|pas le|sauf le) " + _DAY + r"\b",
        # dates, times, amounts
        r"\b\d{1,2}(?:er)? " + _MONTH + r"|\bà \d{1,2} ?(?:h\b|h\d\d|heures?)",
        r"\b\d[\d.,]*(?: \d{3})? ?(?:€|euros?|dollars?|francs|personnes|invités|kg|km)(?!\w)",
    ),
    correction=(
        r"^(?:non|attends|attendez|pardon|désolée?|en fait)\b.{1,60}\b(?:pas|est|était|voulais|plutôt|sont)\b",
        r"\bje voulais dire\b|\bje me suis (?:trompée?|mal exprimée?)\b|\berreur de ma part\b|\bcorrection\b"
        r"|\brectification\b",
        r"\bce n['’]est pas (?:ça|correct|exact|juste|vrai)\b|\bc['’]est (?:faux|inexact)\b"
        r"|\ben fait,? (?:c['’]est|il|elle|je|mon|ma|le|la|nous|on)\b",
    ),
    offer=(
        r"\b(?:n['’]hésite[zs]?|souhaitez-vous|souhaites-tu|voulez-vous|veux-tu)\b|\bsi (?:vous|tu) (?:le )?"
        r"(?:souhaite|voule|veux|désire)",
        r"\bje (?:peux|vais) (?:\w+ )?(?:aider|expliquer|montrer|essayer|commencer)\b|\bdites-moi\b|\bdis-moi\b",
    ),
    small_talk=(
        r"bonjour|salut|coucou|bonsoir|bonne (?:nuit|journée|soirée|continuation)|bon (?:week-?end|appétit|courage)",
        r"au revoir|à (?:bientôt|demain|plus|plus tard|tout à l['’]heure)|(?:mille )?merci|beaucoup|infiniment",
        r"de rien|je (?:vous|t['’]) ?en prie|pas de (?:problème|souci)|d['’]accord|ok|oui|non|ouais|si|parfait|super",
        r"génial|cool|très|bien|bon|bonne|idée|c['’](?:est|était)|noté|compris|entendu|exact(?:ement)?|voilà|sûr",
        r"je (?:vois|comprends)|ça (?:marche|va|me va|roule|me plaît)|comment|(?:allez-vous|vas-tu|va)|et|toi",
        r"haha|ha|mdr|ah|oh|hm+|pour|ton|ta|votre|cette|l['’]aide|aide|gentil|intéressant|drôle|utile|suivante?"
        r"|maintenant|aujourd['’]hui|tout|fait|ravie?|moi|aussi|vous|tu|vraiment|quel|beau|temps|il|fait|trop"
        r"|le|la|un|une",
    ),
)
