"""Italian phrases of important messages and of small talk."""

from mnemoir.conversations.windows.importance_cues.cues import Cues

_MONTH = r"(?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre)"
_DAY = r"(?:luned[iì]|marted[iì]|mercoled[iì]|gioved[iì]|venerd[iì]|sabat[oi]|domenic(?:a|he))"
_MINE = (  # people and things of a person, as subjects of facts
    r"(?:moglie|marito|compagn[oa]|fidanzat[oa]|ragazz[oa]|figli[oa]?|figlie|bambin[oaie]|fratell[oi]|sorell[ae]"
    r"|madre|mamma|padre|papà|genitori|nonn[oaie]|zi[oa]|cugin[oaie]|cap[oa]|collegh?[ai]|squadra|team|azienda|ditta"
    r"|can[ei]|gatt[oaie]|medic[oa]|dottore|dottoressa|dentista|padrone di casa|compleanno|anniversario|matrimonio"
    r"|indirizzo|e-?mail|telefono|numero|nome|cognome|lavoro|volo|budget|stipendio|affitto|macchina|auto|casa"
    r"|appartamento|ginocchio|schiena|cuore|gamba|braccio|soprannome|obiettivo|dieta|professione|lingua madre)"
)
_I_AM = (
    r"(?:ingegnere|insegnante|professore(?:ssa)?|infermier[ea]|medic[oa]|dottore(?:ssa)?|designer|sviluppatore"
    r"|sviluppatrice|programmatore|programmatrice|student(?:e|essa)|avvocat[oa]|scrittore|scrittrice|contabile"
    r"|cuoc[oa]"
    r"|architett[oa]|pilota|musicista|ricercatore|ricercatrice|elettricista|falegname|vegetarian[oa]|vegan[oa]"
    r"|diabetic[oa]|sposat[oa]|divorziat[oa]|single|incinta|pensionat[oa]|daltonic[oa]|mancin[oa]|allergic[oa]"
    r"|celiac[oa]|asmatic[oa]|nat[oa]|cresciut[oa])"
)
_DECIDE = (
    r"(?:usare|utilizzare|scegliere|comprare|prenotare|ordinare|annullare|cancellare|rimandare|inviare|mandare"
    r"|passare"
    r"|tenere|vendere|firmare|licenziarmi|trasferirmi|trasferirci|consegnare|lanciare|assumere|smettere|prendere"
    r"|restare|rimanere|migrare)"
)

ITALIAN = Cues(
    remember=(
        r"\b(?:ricorda(?:ti|tevi)?|ricordi|si ricordi|tieni a mente|tenga presente|tieni presente"
        r"|memorizza)\b(?! quando)",
        r"\bnon (?:ti )?dimenticar(?:e|ti|lo)?\b|\bnon dimenticate\b|\bda (?:ora|adesso) in poi\b"
        r"|\bd['’]ora in poi\b",
        r"\b(?:annota|prendi nota|segna(?:ti|telo)?)\b|\bimportante:",
    ),
    decision=(
        r"\b(?:abbiamo|ho|hanno|ci siamo|mi sono|si è) (?:\w+ ){0,2}(?:deciso|decisi|scelto|concordato|stabilito"
        r"|optato|accettato|accordati|messi d['’]accordo)\b",
        r"\b(?:andiamo|vado) (?:con|sul|sulla|per)\b|\b(?:prendiamo|teniamo|usiamo|scegliamo|annulliamo|rimandiamo"
        r"|restiamo (?:su|con|a)|compriamo|prenotiamo)\b",
        r"\b(?:vado|andrò|andremo|sto per|intendo|stiamo per) (?:a )?" + _DECIDE + r"\b",
        r"\b(?:ti |vi |lo |la )?(?:invierò|manderò|consegnerò|comprerò|prenoterò|userò|annullerò|firmerò|pagherò"
        r"|finirò|farò|prenderò|terrò|useremo|invieremo|consegneremo|prenderemo|compreremo|prenoteremo|annulleremo"
        r"|lanceremo|annullo|mi licenzio)\b",
        r"\b(?:prometto|mi impegno|promettiamo|ci impegniamo)\b|\b(?:è|allora è) (?:deciso|fatta|stabilito)\b"
        r"|\b(?:la (?:mia|nostra)|la) decisione (?:finale|è)\b|\bdecisione(?: finale)?:|\bdeciso:|\bconcordato:",
    ),
    fact=(
        # names, people, places, work
        r"\bmi chiamo\b|\bchiamami\b|\bil mio nome è\b|\b(?:vivo|abito|lavoro|studio|insegno|vengo|suono|gioco|parlo)"
        r" (?:a|ad|in|nel|nella|da|di|come|per|il|la|al|con|italiano|inglese)\b|\bmi sono (?:trasferit"
        r"|laureat)[oa]\b",
        r"\bsono (?:un |una |un['’])?(?:\w+ )?" + _I_AM + r"\b|\bfaccio (?:il|la|l['’]) ?\w+|\bho \d+ anni\b"
        r"|\bsono di (?!nuovo|fretta|fronte|più)",
        r"\b(?:mi[oa]|miei|mie|nostr[oaie]) (?:\w+ ){0,2}"
        + _MINE
        + r"(?: [\w-]+){0,3} (?:è|sono|era|si chiaman?o?|ha|hanno|vive|vivono|abita(?:no)?|lavora(?:no)?|inizia|parte"
        r"|compie|cade)\b",
        r"\bho (?:un['’]? ?|una |due |tre |quattro |\d+ )(?:[\w-]+ ){0,2}(?:can[ei]|gatt[oi]|figli[oae]?|bambin[oi]"
        r"|fratell[oi]|sorell[ae]|allergi[ae]|malattia)\b|\bho (?:l['’]asma|il diabete|le vertigini)\b",
        # preferences
        r"\b(?:preferisco|odio|detesto|adoro|amo|evito|mi piac(?:e|ciono)|non sopporto)\b"
        r"(?! (?:questo|questa idea|l['’]idea|il tuo|la tua)\b)",
        r"\bpreferit[oaie]\b|\b(?:sempre|mai|solo|soltanto)\b.{1,30}\b(?:mangio|bevo|uso|lavoro|viaggio)\b"
        r"|\b(?:mangio|bevo|uso|lavoro|viaggio|prendo) (?:\w+ )?(?:sempre|mai|solo|soltanto)\b",
        # constraints
        r"\b(?:allergic[oa]|intollerante)\b|\bnon (?:mangio|bevo|fumo|guido|posso|lavoro|uso|parlo)\b"
        r"(?! (?:credere|vedere|aspettare)\b)",
        r"\b(?:deve|devono|bisogna che)\b.{0,40}\b(?:essere|stare|costare|arrivare|finire|funzionare|superare|restare"
        r"|rimanere)\b",
        r"\b(?:al massimo|massimo|minimo|almeno|non più di|meno di|fino a|entro(?: il| le)?"
        r"|al più tardi(?: il)?) [\d€$]",
        r"\bscadenza\b.{0,40}\b(?:è|il|al)\b|\b(?:scade|inizia|finisce) il\b",
        r"\b(?:ogni|tutti i|solo (?:il|di)|mai (?:il|di)|tranne (?:il|di)) " + _DAY + r"\b",
        # dates, times, amounts
        r"\b\d{1,2}[°º]? " + _MONTH + r"\b|\balle (?:ore )?\d{1,2}(?:[:.]\d\d)?\b",
        r"[€$] ?\d|\b\d[\d.,]* ?(?:€|euro|dollari|franchi|persone|invitati|ospiti|kg|km)(?!\w)",
    ),
    correction=(
        r"^(?:no|aspetta|scusa|scusi|in realtà)\b.{1,60}\b(?:non|è|era|intendevo|ma|sono)\b",
        r"\b(?:volevo dire|intendevo|mi sono sbagliat[oa]|ho sbagliato|mi correggo)\b|\bcorrezione\b",
        r"\bnon è (?:così|corretto|giusto|vero)\b|\bè sbagliato\b|\bin realtà,? (?:è|il|la|mi|io|sono|si)\b"
        r"|\bbensì\b",
    ),
    offer=(
        r"\b(?:fammi sapere|mi faccia sapere|dimmi|mi dica)\b|\b(?:vuoi|vuole|desideri|ti piacerebbe) che\b"
        r"|\bse (?:vuoi|vuole|desideri|ti serve)\b",
        r"\b(?:posso|vado a|cerco di) (?:\w+ )?(?:aiutar\w*|spiegar\w*|mostrar\w*|provare|iniziare)\b",
    ),
    small_talk=(
        r"ciao|salve|buongiorno|buonasera|buonanotte|buon (?:giorno|pomeriggio|weekend|fine settimana)"
        r"|buona (?:giornata"
        r"|serata|notte)|arrivederci|a (?:presto|dopo|domani)|ci vediamo",
        r"(?:mille|tante|molte) grazie|grazie|prego|di nulla|di niente|non c['’]è (?:problema|di che)"
        r"|per favore|ok|sì|si"
        r"|no|certo|certamente|perfetto|ottimo|fantastico|bene|bello|bravo|molto|benissimo|d['’]accordo|va bene",
        r"capito|capisco|ho capito|vedo|esatto|giusto|come (?:stai|sta|va)|tutto|e|tu|lei|ah|oh|haha|ahah|hm+"
        r"|che|è|era",
        r"per|il|lo|la|l['’]aiuto|tuo|aiuto|davvero|utile|gentile|interessante|divertente|adesso|ora|oggi"
        r"|mi piace|idea"
        r"|buona|prossimo|avanti|anche|io|sto|suona|ha senso|fa|caldo|freddo|bel|tempo|sei|stato|stata|così",
    ),
)
