"""Portuguese phrases of important messages and of small talk."""

from mnemoir.conversations.windows.importance_cues.cues import Cues

_MONTH = r"(?:janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro)"
_DAY = r"(?:segundas?|terças?|quartas?|quintas?|sextas?|sábados?|domingos?)(?:-feiras?)?"
_MINE = (  # people and things of a person, as subjects of facts
    r"(?:mulher|esposa|esposo|marido|namorad[oa]|parceir[oa]|filh[oa]s?|bebê|bebé|irmãos?|irmãs?|mãe|mamãe|pai|papai"
    r"|pais|av[óô]s?|ti[oa]s?|prim[oa]s?|chefe|colegas?|equipe|equipa|empresa|cachorr[oa]s?|cão|cães|gat[oa]s?"
    r"|médic[oa]"
    r"|dentista|senhorio|aniversário|casamento|endereço|morada|e-?mail|telefone|número|nome|sobrenome|apelido|emprego"
    r"|trabalho|voo|orçamento|salário|aluguel|renda|carro|casa|apartamento|joelho|costas|coração|perna|braço|objetivo"
    r"|meta|dieta|profissão|língua materna)"
)
_I_AM = (
    r"(?:engenheir[oa]|professora?|enfermeir[oa]|médic[oa]|designer|programadora?|desenvolvedora?|estudante"
    r"|advogad[oa]"
    r"|escritora?|contadora?|contabilista|cozinheir[oa]|arquitet[oa]|piloto|músic[oa]|pesquisadora?|investigadora?"
    r"|eletricista|carpinteir[oa]|vegetarian[oa]|vegan[oa]|diabétic[oa]|casad[oa]|divorciad[oa]|solteir[oa]"
    r"|aposentad[oa]|reformad[oa]|daltônic[oa]|daltónic[oa]|canhot[oa]|alérgic[oa]|celíac[oa]|asmátic[oa])"
)
_DECIDE = (
    r"(?:usar|utilizar|escolher|comprar|reservar|encomendar|pedir|cancelar|adiar|enviar|mandar|mudar|trocar|passar"
    r"|ficar com|manter|vender|assinar|entregar|lançar|contratar|parar|começar|optar|migrar|seguir com|me demitir"
    r"|pegar|levar)"
)

PORTUGUESE = Cues(
    remember=(
        r"\b(?:lembre(?:-se|m-se)?|lembra-te|se lembre|recorde|memorize)\b(?! quando)",
        r"\bnão (?:se )?(?:esqueça|esqueças|esqueçam|te esqueças|esquece)\b|\btenha (?:isso )?em mente\b"
        r"|\btem em conta\b|\bleve em conta\b",
        r"\b(?:anote|anota|tome nota|toma nota)\b|\b(?:a partir de agora|de agora em diante|daqui em diante)\b"
        r"|\bimportante:|\bpara constar\b",
    ),
    decision=(
        r"\b(?:decidimos|decidi|escolhemos|escolhi|combinamos|combinámos|concordamos|optamos|optei|acordamos"
        r"|acordámos"
        r"|resolvemos|resolvi|fechamos|ficou (?:decidido|combinado|acordado))\b",
        r"\b(?:vamos|vou) (?:\w+ )?" + _DECIDE + r"\b|\bvamos com\b|\bficamos com\b|\bfico com\b",
        r"\b(?:enviarei|entregarei|comprarei|reservarei|usarei|cancelarei|assinarei|pagarei|terminarei|farei"
        r"|enviaremos"
        r"|usaremos|entregaremos|compraremos|cancelaremos|lançaremos|pagaremos)\b",
        r"\b(?:prometo|prometemos|me comprometo|comprometo-me)\b|\b(?:está|fica) (?:decidido|combinado|fechado)\b"
        r"|\b(?:minha|nossa|a) decisão (?:final|é)\b|\bdecisão(?: final)?:|\bcombinado:|\bdecidido:",
    ),
    fact=(
        # names, people, places, work
        r"\b(?:me chamo|chamo-me|meu nome é|me chame)\b|\b(?:moro|vivo|trabalho|estudo|ensino|venho|nasci|cresci"
        r"|estudei|toco|jogo|falo) (?:em|no|na|nos|nas|de|do|da|como|para|com|desde|português|inglês|o|a)\b"
        r"|\b(?:me mudei|mudei-me)\b",
        r"\b(?:sou|estou) (?:um |uma |o |a )?(?:\w+ )?" + _I_AM + r"\b|\bestou grávida\b|\btenho \d+ anos\b"
        r"|\bsou (?:de|do|da)\b",
        r"\b(?:meus?|minhas?|noss[oa]s?) (?:\w+ ){0,2}"
        + _MINE
        + r"(?: [\w-]+){0,3} (?:é|são|era|se chamam?|chama(?:m)?-se|tem|têm|mora(?:m)?|vive(?:m)?"
        r"|trabalha(?:m)?|começa"
        r"|sai|está|faz|cai)\b",
        r"\btenho (?:uma?|dois|duas|três|quatro|\d+) (?:[\w-]+ ){0,2}(?:cachorr[oa]s?|cães|cão|gat[oa]s?|filh[oa]s?"
        r"|irmãos?|irmãs?|alergias?|doença)\b|\btenho (?:asma|diabetes|vertigens|alergia)\b",
        # preferences
        r"\b(?:prefiro|odeio|detesto|adoro|amo|evito|(?<!não )gosto de|não gosto|não suporto)\b"
        r"(?! (?:disso|isso|dessa ideia|a ideia|sua|tua)\b)",
        r"\bfavorit[oa]s?\b|\bpreferid[oa]s?\b|\b(?:sempre|nunca|jamais|só|apenas) (?:como|bebo|tomo|uso"
        r"|trabalho|viajo"
        r"|posso|compro|vou)\b",
        # constraints
        r"\b(?:alérgic[oa]|intolerante)\b|\bnão (?:como|bebo|fumo|dirijo|conduzo|posso|tomo|uso|trabalho|falo)\b"
        r"(?! (?:acreditar|esperar|ver)\b)",
        r"\b(?:deve|devem|tem que|têm que|tem de|precisa)\b.{0,40}\b(?:ser|estar|custar|chegar|terminar"
        r"|funcionar|caber"
        r"|ultrapassar|ficar|sair)\b",
        r"\b(?:no máximo|no mínimo|máximo|mínimo|pelo menos|não mais de|menos de|até|o mais tardar|antes do dia)"
        r" (?:o |dia )?(?:[\d€$]|r\$)",
        r"\b(?:prazo|data limite)\b.{0,40}\b(?:é|até|termina|vence|em)\b|\b(?:vence|expira|começa) (?:em|no dia"
        r"|dia)\b",
        r"\b(?:todas as|todos os|cada|só às|só aos|nunca às|nunca aos|exceto aos) " + _DAY + r"\b",
        # dates, times, amounts
        r"\b\d{1,2}º? de " + _MONTH + r"\b|\bàs \d{1,2}(?:h\d{0,2}|:\d\d| horas)?(?!\w)",
        r"(?:r\$|[€$]) ?\d|\b\d[\d.,]* ?(?:€|euros?|reais|dólares|pessoas|convidados|kg|km)(?!\w)",
    ),
    correction=(
        r"^(?:não|espera|espere|desculpa|desculpe|na verdade)\b[,.].{1,60}\b(?:não|é|era|quis|queria|mas|são)\b",
        r"\b(?:quis dizer|queria dizer|me enganei|enganei-me|eu errei|me expressei mal|corrijo)\b|\bcorreção\b",
        r"\bnão é (?:assim|isso|correto|verdade)\b|\b(?:isso )?está errado\b"
        r"|\bna verdade,? (?:é|o|a|meu|minha|eu|são|se)\b|\be não (?:em|no|na|o|a|de)\b",
    ),
    offer=(
        r"\b(?:me avise|avise-me|me diga|diga-me)\b|\b(?:quer|gostaria|você quer) que\b|\bse (?:quiser|quiseres"
        r"|precisar"
        r"|desejar)\b",
        r"\b(?:posso|vou) (?:\w+ )?(?:ajud\w+|explicar|mostrar|tentar|começar por)\b",
    ),
    small_talk=(
        r"olá|ola|oi|bom dia|boa (?:tarde|noite)|tchau|adeus|até (?:logo|amanhã|breve|mais|já)|tudo (?:bem|bom)|e aí",
        r"(?:muito )?obrigad[oa]|valeu|de nada|não (?:há|tem) (?:problema|de quê)|sem problemas?|por favor|ok"
        r"|sim|não",
        r"claro|perfeito|ótimo|óptimo|bem|bom|boa|muito|legal|excelente|fixe|entendi|entendido|percebi"
        r"|compreendo|certo"
        r"|exato|isso|beleza|com certeza|de acordo|combinado|como (?:vai|está|estás)|e|você|tu|contigo|ah|oh"
        r"|haha|kkk+",
        r"hm+|rs|pela|pelo|a|o|sua|tua|ajuda|ajudou|me|foi|é|que|interessante|engraçado|útil|simpático|agora|hoje"
        r"|depois|próximo|gostei|ideia|também|eu|estou|faz sentido|bom fim de semana|tempo|calor|frio|mesmo|tão",
    ),
)
