"""Spanish phrases of important messages and of small talk."""

from mnemoir.conversations.windows.importance_cues.cues import Cues

_MONTH = r"(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|sep?tiembre|octubre|noviembre|diciembre)"
_DAY = r"(?:lunes|martes|miércoles|miercoles|jueves|viernes|sábados?|sabados?|domingos?)"
_MINE = (  # people and things of a person, as subjects of facts
    r"(?:mujer|esposa|esposo|marido|pareja|novia|novio|hij[oa]s?|bebé|herman[oa]s?|madre|mamá|padre|papá|padres"
    r"|abuel[oa]s?|tí[oa]s?|prim[oa]s?|jef[ea]|compañer[oa]s?|equipo|empresa|perr[oa]s?|gat[oa]s?|médic[oa]|dentista"
    r"|caser[oa]|cumpleaños|aniversario|boda|dirección|correo|e-?mail|teléfono|número|nombre|apellido|trabajo|vuelo"
    r"|presupuesto|sueldo|salario|alquiler|coche|carro|casa|piso|departamento|apartamento|rodilla|espalda|corazón"
    r"|pierna|brazo|apodo|usuario|objetivo|meta|dieta|profesión|lengua materna)"
)
_I_AM = (
    r"(?:ingenier[oa]|profesora?|maestr[oa]|enfermer[oa]|médic[oa]|doctora?|diseñadora?|programadora?|desarrolladora?"
    r"|estudiante|abogad[oa]|escritora?|contable|contadora?|cociner[oa]|arquitect[oa]|piloto|músic[oa]|investigadora?"
    r"|electricista|carpinter[oa]|vegetarian[oa]|vegan[oa]|diabétic[oa]|casad[oa]|divorciad[oa]|solter[oa]"
    r"|jubilad[oa]"
    r"|daltónic[oa]|zurd[oa]|alérgic[oa]|celíac[oa]|celiac[oa]|asmátic[oa])"
)
_DECIDE = (
    r"(?:usar|utilizar|elegir|escoger|comprar|reservar|pedir|cancelar|posponer|aplazar|enviar|mandar|cambiar|pasar"
    r"|quedarnos|quedarme|vender|firmar|renunciar|mudarme|mudarnos|entregar|lanzar|contratar|dejar|empezar|ir con"
    r"|migrar|tomar|optar)"
)

SPANISH = Cues(
    remember=(
        r"\b(?:recuerda|recuerde|recuerden|recordad|acuérdate|acuérdese|acordaos|memoriza)\b(?! cuando)",
        r"\bno (?:te |se |lo )?(?:olvides|olvide|olvidéis|olviden)\b",
        r"\b(?:ten|tenga|tened) (?:lo )?(?:en cuenta|presente)\b|\btenlo en cuenta\b|\bapunta\b|\banota(?: que)?\b"
        r"|\btoma nota\b",
        r"\b(?:a partir de ahora|de ahora en adelante|desde ahora)\b|\bimportante:|\bpara que conste\b",
    ),
    decision=(
        r"\b(?:hemos|he|han|habíamos) (?:\w+ ){0,2}(?:decidido|elegido|escogido|acordado|quedado|optado|aceptado)\b",
        r"\b(?:decidimos|acordamos|elegimos|escogimos|optamos|quedamos en|decidí|elegí|opté)\b",
        r"\b(?:vamos|voy) a (?:\w+ )?" + _DECIDE + r"\b|\bnos quedamos con\b|\bme quedo con\b|\bvamos con\b",
        r"\b(?:lo )?(?:enviaré|mandaré|entregaré|compraré|reservaré|usaré|cancelaré|firmaré|pagaré|terminaré"
        r"|haré|enviaremos|usaremos|entregaremos|compraremos|reservaremos|cancelaremos|lanzaremos|pagaremos)\b",
        r"\b(?:te )?(?:lo )?(?:prometo|me comprometo|prometemos)\b|\b(?:está|queda) (?:decidido|acordado|hecho)\b"
        r"|\b(?:mi|nuestra|la) decisión (?:final|es)\b|\bdecisión(?: final)?:|\bacordado:|\bdecidido:",
    ),
    fact=(
        # names, people, places, work
        r"\bme llamo\b|\bllám[ae]me\b|\bmi nombre es\b|\b(?:vivo|trabajo|estudio|enseño|vengo|nací|crecí|estudié|toco"
        r"|juego|hablo) (?:en|de|como|para|a|al|con|desde|solo|el|la|español|inglés|francés)\b|\bme mudé\b",
        r"\bsoy (?:un |una )?(?:\w+ )?" + _I_AM + r"\b|\bestoy (?:casad[oa]|divorciad[oa]|embarazada|jubilad[oa])\b"
        r"|\btengo \d+ años\b|\bsoy de\b",
        r"\b(?:mi|mis|nuestr[oa]s?) (?:\w+ ){0,2}"
        + _MINE
        + r"(?: [\w-]+){0,3} (?:es|son|era|se llaman?|tienen?|viven?|trabajan?|empieza|sale|está|cumple|cae)\b",
        r"\btengo (?:una?|dos|tres|cuatro|\d+) (?:[\w-]+ ){0,2}(?:perr[oa]s?|gat[oa]s?|hij[oa]s?|niñ[oa]s?"
        r"|herman[oa]s?|alergias?|enfermedad)\b|\btengo (?:asma|diabetes|vértigo|alergia)\b",
        # preferences
        r"\b(?:prefiero|odio|detesto|evito|me encantan?|me gustan?|no soporto)\b(?! (?:eso|esto|la idea|tu|su"
        r"|cómo)\b)",
        r"\bfavorit[oa]s?\b|\b(?:siempre|nunca|jamás|solo|sólo) (?:como|bebo|tomo|uso|trabajo|viajo|puedo"
        r"|compro|voy|me)\b",
        # constraints
        r"\b(?:alérgic[oa]|intolerante)\b|\bno (?:como|bebo|fumo|conduzco|manejo|tomo|puedo|uso|trabajo|hablo)\b"
        r"(?! (?:creer|esperar|ver|más)\b)",
        r"\b(?:debe|deben|tiene que|tienen que|hay que)\b.{0,40}\b(?:ser|estar|costar|llegar|terminar|funcionar|caber"
        r"|superar|quedar|salir)\b",
        r"\b(?:como máximo|como mínimo|máximo|mínimo|al menos|no más de|menos de|hasta|a más tardar"
        r"|antes del) (?:el )?"
        r"[\d€$]",
        r"\b(?:fecha límite|plazo|fecha tope)\b.{0,40}\b(?:es|el|vence|termina)\b|\b(?:vence|caduca|empieza) el\b",
        r"\b(?:todos los|cada|solo los|sólo los|nunca los|menos los|excepto los) " + _DAY + r"\b",
        # dates, times, amounts
        r"\b\d{1,2} de " + _MONTH + r"\b|\b(?:a las|a la) \d{1,2}(?::\d\d)?\b",
        r"[€$] ?\d|\b\d[\d.,]* ?(?:€|euros?|dólares|pesos|personas|invitad[oa]s|kg|km)(?!\w)",
    ),
    correction=(
        r"^(?:no|espera|perdón|perdona|lo siento|en realidad)\b[,.].{1,60}\b(?:no|es|era|quería|sino|son)\b",
        r"\bquería decir\b|\bme (?:equivoqué|he equivocado|confundí|expresé mal)\b|\bcorrección\b|\bcorrijo\b",
        r"\beso no es (?:así|correcto|cierto|verdad)\b|\b(?:eso )?está mal\b|\ben realidad,? (?:es|mi|yo|el|la"
        r"|son|se)\b"
        r"|\bsino (?:el|la|en|que|a)\b",
    ),
    offer=(
        r"\b(?:avísame|avíseme|dime|dígame|házmelo saber)\b|\b(?:quieres|quiere|te gustaría|le gustaría) que\b"
        r"|\bsi (?:quieres|quiere|lo deseas|lo desea|necesitas|necesita)\b",
        r"\b(?:puedo|voy a) (?:\w+ )?(?:ayudar(?:te|le)?|explicar(?:te|le)?|mostrar(?:te|le)?|intentar|empezar)\b",
    ),
    small_talk=(
        r"hola|buen(?:os|as)? (?:días|dias|tardes|noches|día)|qué tal|que tal|adiós|adios|chao|hasta (?:luego|mañana"
        r"|pronto)|nos vemos|saludos|cuídate",
        r"(?:muchas|mil|muchísimas) gracias|gracias|de nada|no hay (?:problema|de qué)|por favor|vale|ok|okay"
        r"|sí|si|no",
        r"claro|perfecto|genial|estupendo|bien|muy|buen[oa]?|excelente|entendido|entiendo|ya veo|comprendo|exacto",
        r"de acuerdo|por supuesto|cómo (?:estás|está|va)|como (?:estas|va)|todo|y|tú|usted|ja(?:ja)*|ah|oh|hm+|guay",
        r"por|tu|su|la|el|ayuda|me|ha|has|ayudado|mucho|gusta|encanta|qué|que|interesante|gracioso|útil|amable|es|eso"
        r"|está|ahora|hoy|luego|siguiente|suena|tiene sentido|fin de semana|feliz|finde|estoy|también|calor"
        r"|frío|hace",
    ),
)
