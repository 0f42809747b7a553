"""Sentences about people whom a user names, in seven languages, and what only looks like them."""

NAMED = {
    "My sister Anna moved to Linz and works at Norlin.": ["Sister Anna moved to Linz", "Sister Anna works at Norlin"],
    "Anna works at Voestalpine.": ["Anna works at Voestalpine"],
    "My boss Tom lives in Graz": ["Boss Tom lives in Graz"],
    "Tom is my boss.": ["Boss is called Tom"],
    "Tom, my boss, lives in Graz.": ["Boss Tom lives in Graz"],
    "My sister Anna, who lives in Linz, works at Norlin.": [
        "Sister Anna lives in Linz",
        "Sister Anna works at Norlin",
    ],
    "My sister is called Anna, she works at Norlin.": ["Sister is called Anna", "Sister works at Norlin"],
    "My sister Anna lives in Linz. She works at Norlin.": [
        "Sister Anna lives in Linz",
        "Sister Anna works at Norlin",
    ],
    "My brothers Ben and Tim live in Graz.": ["Brothers Ben and Tim live in Graz"],
    "Ben and Tim live in Graz.": ["Ben and Tim live in Graz"],
    "My parents, Rosa and Karl, live in Graz.": ["Parents Rosa and Karl live in Graz"],
    "My mother-in-law Rosa lives in Rome.": ["Mother-in-law Rosa lives in Rome"],
    "My best friend Lena moved to Berlin.": ["Best friend Lena moved to Berlin"],
    "My wife's sister lives in Rome.": ["Wife's sister lives in Rome"],
    "Anna's husband works at Bosch.": ["Anna's husband works at Bosch"],
    "Dr. Weber works at the hospital.": ["Dr. Weber works at the hospital"],
    "my sister anna works at norlin": ["Sister anna works at norlin"],
    "Our dog Rex loves cheese and hates cats.": ["Dog Rex loves cheese", "Dog Rex hates cats"],
    "Mia turned six.": ["Mia turned six"],
    "Peter doesn't eat meat.": ["Peter doesn't eat meat"],
    "My sister Anna lives in Linz and I live in Graz.": ["Sister Anna lives in Linz", "Lives in Graz"],
    "My dad is a plumber and my mum teaches maths.": ["Dad is a plumber", "Mum teaches maths"],
    "Emma is five.": ["Emma is five"],
    "Lisa is pregnant!": ["Lisa is pregnant"],
    "Lisa ist schwanger.": ["Lisa ist schwanger"],
    "Mein Sohn Leo geht in die zweite Klasse.": ["Mein Sohn Leo geht in die zweite Klasse"],
    "Nos voisins ont trois chiens.": ["Nos voisins ont trois chiens"],
    "Mio figlio Leo va a scuola.": ["Mio figlio Leo va a scuola"],
    "A Lisa está grávida.": ["A Lisa está grávida"],
    "Mijn oma is 90 jaar.": ["Mijn oma is 90 jaar"],
    "Btw, my cousin Leo is allergic to nuts.": ["Cousin Leo is allergic to nuts"],
    "Meine Schwester Anna ist nach Linz gezogen und arbeitet bei Norlin.": [
        "Meine Schwester Anna ist nach Linz gezogen",
        "Meine Schwester Anna arbeitet bei Norlin",
    ],
    "Anna arbeitet bei der Voestalpine.": ["Anna arbeitet bei der Voestalpine"],
    "Mein Chef Tom wohnt in Graz.": ["Mein Chef Tom wohnt in Graz"],
    "Meine Brüder Ben und Tim wohnen in Graz.": ["Meine Brüder Ben und Tim wohnen in Graz"],
    "Unser Hund Rex liebt Käse.": ["Unser Hund Rex liebt Käse"],
    "Meine Schwiegermutter wohnt in Rom.": ["Meine Schwiegermutter wohnt in Rom"],
    "Meine Schwester Anna wohnt in Linz und ich wohne in Graz.": [
        "Meine Schwester Anna wohnt in Linz",
        "Ich wohne in Graz",
    ],
    "Ma soeur Anna a déménagé à Lyon et travaille chez Norlin.": [
        "Ma soeur Anna a déménagé à Lyon",
        "Ma soeur Anna travaille chez Norlin",
    ],
    "Anna travaille chez Airbus.": ["Anna travaille chez Airbus"],
    "Mon chef Tom habite à Nice.": ["Mon chef Tom habite à Nice"],
    "Mes frères habitent à Nice.": ["Mes frères habitent à Nice"],
    "Notre chien Rex adore le fromage.": ["Notre chien Rex adore le fromage"],
    "Ma soeur Anna habite à Lyon et j'habite à Nice.": ["Ma soeur Anna habite à Lyon", "J'habite à Nice"],
    "Mi hermana Ana se mudó a Sevilla y trabaja en Norlin.": [
        "Mi hermana Ana se mudó a Sevilla",
        "Mi hermana Ana trabaja en Norlin",
    ],
    "Ana trabaja en Seat.": ["Ana trabaja en Seat"],
    "Mi jefe Tomás vive en Madrid.": ["Mi jefe Tomás vive en Madrid"],
    "Mis suegros viven en Cádiz.": ["Mis suegros viven en Cádiz"],
    "Nuestro perro Rex ama el queso.": ["Nuestro perro Rex ama el queso"],
    "Mia sorella Anna si è trasferita a Milano e lavora da Norlin.": [
        "Mia sorella Anna si è trasferita a Milano",
        "Mia sorella Anna lavora da Norlin",
    ],
    "Anna lavora alla Fiat.": ["Anna lavora alla Fiat"],
    "Il mio capo Tom vive a Roma.": ["Il mio capo Tom vive a Roma"],
    "I miei fratelli vivono a Roma.": ["I miei fratelli vivono a Roma"],
    "Il nostro cane Rex ama il formaggio.": ["Il nostro cane Rex ama il formaggio"],
    "A minha irmã Ana mudou-se para Braga e trabalha na Norlin.": [
        "A minha irmã Ana mudou-se para Braga",
        "A minha irmã Ana trabalha na Norlin",
    ],
    "A Ana trabalha na Galp.": ["A Ana trabalha na Galp"],
    "O meu chefe Tom mora no Porto.": ["O meu chefe Tom mora no Porto"],
    "Os meus sogros moram em Braga.": ["Os meus sogros moram em Braga"],
    "O nosso cão Rex adora queijo.": ["O nosso cão Rex adora queijo"],
    "Mijn zus Anna is naar Gent verhuisd en werkt bij Norlin.": [
        "Mijn zus Anna is naar Gent verhuisd",
        "Mijn zus Anna werkt bij Norlin",
    ],
    "Anna werkt bij Philips.": ["Anna werkt bij Philips"],
    "Mijn baas Tom woont in Gent.": ["Mijn baas Tom woont in Gent"],
    "Mijn schoonouders wonen in Gent.": ["Mijn schoonouders wonen in Gent"],
    "Onze hond Rex houdt van kaas.": ["Onze hond Rex houdt van kaas"],
    "I think Anna works at Bosch.": ["Anna works at Bosch"],
    "I believe that my sister lives in Rome.": ["Sister lives in Rome"],
    "I'm pretty sure Tom is vegan.": ["Tom is vegan"],
    "Anna works at Bosch, I think.": ["Anna works at Bosch"],
    "Ich glaube, Anna arbeitet bei Bosch.": ["Anna arbeitet bei Bosch"],
    "Ich denke, dass Anna bei Bosch arbeitet.": ["Anna arbeitet bei Bosch"],
    "Ich glaube, dass meine Schwester nach Linz gezogen ist.": ["Meine Schwester ist nach Linz gezogen"],
    "Je crois qu'Anna travaille chez Bosch.": ["Anna travaille chez Bosch"],
    "Je pense que mon frère habite à Nice.": ["Mon frère habite à Nice"],
    "Creo que Ana trabaja en Bosch.": ["Ana trabaja en Bosch"],
    "Me parece que mi hermano vive en Lugo.": ["Mi hermano vive en Lugo"],
    "Credo che Anna lavori alla Bosch.": ["Anna lavora alla Bosch"],
    "Penso che mia sorella viva a Pisa.": ["Mia sorella vive a Pisa"],
    "Acho que a Ana trabalha na Bosch.": ["A Ana trabalha na Bosch"],
    "Creio que o meu irmão mora em Faro.": ["O meu irmão mora em Faro"],
    "Ik denk dat Anna bij Bosch werkt.": ["Anna werkt bij Bosch"],
    "Ik geloof dat mijn broer in Gent woont.": ["Mijn broer woont in Gent"],
    "Rosa and her husband live in Rome.": ["Rosa and her husband live in Rome"],
    "My sister Rosa and her husband Marco moved to Rome.": ["Sister Rosa and her husband Marco moved to Rome"],
    "Rosa und ihr Mann wohnen in Rom.": ["Rosa und ihr Mann wohnen in Rom"],
    "Meine Schwester und ihr Mann haben zwei Kinder.": ["Meine Schwester und ihr Mann haben zwei Kinder"],
    "Rosa et son mari habitent à Rome.": ["Rosa et son mari habitent à Rome"],
    "Rosa y su marido viven en Roma.": ["Rosa y su marido viven en Roma"],
    "Rosa e suo marito vivono a Roma.": ["Rosa e suo marito vivono a Roma"],
    "A Rosa e o marido vivem em Roma.": ["A Rosa e o marido vivem em Roma"],
    "Rosa e o seu marido moram em Roma.": ["Rosa e o seu marido moram em Roma"],
    "Rosa en haar man wonen in Rome.": ["Rosa en haar man wonen in Rome"],
    "I live in Linz and my sister Anna works at Norlin.": ["Lives in Linz", "Sister Anna works at Norlin"],
    "I live in Linz and Anna works at Norlin.": ["Lives in Linz", "Anna works at Norlin"],
    "Ich wohne in Linz und Anna arbeitet bei Norlin.": ["Ich wohne in Linz", "Anna arbeitet bei Norlin"],
    "My sister Anna lives in Linz, what can I give her?": ["Sister Anna lives in Linz"],
}

NOBODY = """
I don't think Anna works at Bosch.
I thought Anna works at Bosch.
I think Anna is right.
I think Python works on Windows.
I think my code has a bug.
Do you think Anna works at Bosch?
My sister thinks Anna works at Bosch.
I hope Anna works at Bosch.
Rosa and her husband are right.
Rosa and her husband are here today.
Meine Schwester glaubt, dass Anna bei Bosch arbeitet.
Ich glaube nicht, dass Anna bei Bosch arbeitet.
Je ne crois pas qu'Anna travaille chez Bosch.
Ma soeur croit qu'Anna travaille chez Bosch.
No creo que Ana trabaje en Bosch.
Mi hermana cree que Ana trabaja en Bosch.
Non credo che Anna lavori alla Bosch.
Não acho que a Ana trabalhe na Bosch.
Ik denk niet dat Anna bij Bosch werkt.
Mijn zus denkt dat Anna bij Bosch werkt.
Python works as a scripting language.
Google works on AI.
Bosch rejected me.
Docker runs in a container.
Berlin is the capital of Germany.
The team works at Bosch.
Tesla moved to Texas.
Windows hates me.
My boss variable is undefined.
My code has a bug.
My sister is sick today.
My mom called me.
My boss says I am late.
My boss wants to move to Berlin.
Does Anna work at Bosch?
If Anna works at Bosch, call her.
My sister says Anna works at Bosch.
Monday works for me.
Tom hates my job.
Write a story in which Anna works at Bosch.
Meine Schwester ist heute krank.
Wohnt Anna in Graz?
Wenn Anna in Graz wohnt, ruf sie an.
Google arbeitet an KI.
Ma soeur est malade.
Est-ce qu'Anna habite à Lyon ?
Mon frère m'a appelé.
Mi hermana está enferma.
¿Vive Ana en Sevilla?
Mi jefe ha llamado hoy.
Mia sorella è malata.
Anna vive a Roma?
Il mio capo ha chiamato.
A minha irmã está doente.
A Ana mora em Braga?
O meu chefe ligou hoje.
Mijn zus is ziek.
Woont Anna in Gent?
Mijn baas heeft gebeld.
"""
