"""Turns in seven languages by the layer that reads them: what gives no fact, and what gives one all the same."""

REPORTED = """
Anna: I'm late, sorry. I live in Oslo.
Anna: can you bring wine?|Tom: sure, I'm vegan.
Lena: bin spät dran. Ich wohne in Bern.
Sophie : je suis en retard. J'habite à Lyon.
Lucía: llego tarde. Vivo en Sevilla.
Giulia: arrivo tardi. Vivo a Roma.
João: chego tarde. Moro em Braga.
Sanne: ik kom later. Ik woon in Gent.
She told me: I am allergic to penicillin.
My neighbour said: I work at Siemens.
My son wrote: I hate school.
My friend Anna texted me: 'I'm pregnant!'
I am a vegetarian said my grandma.
I hate olives, she wrote.
Quote of the day: I am a strange loop
Yesterday my boss told us: I am leaving the company.
Anna said, I live in Oslo.
The doctor wrote: I work at the hospital.
They always say: I love Mondays.
You said: I live in Oslo.
It says: I am vegan.
My sister asked: am I old? I am 34, she said.
Meine Nachbarin sagte: Ich arbeite bei Siemens.
Mein Bruder schrieb: Ich hasse Oliven.
Sie hat gesagt: Ich wohne in Bern.
Ich wohne in Bern, sagte mein Chef.
Ma voisine a dit : J'habite à Nice.
Mon frère écrit : Je déteste les olives.
J'habite à Nice, dit ma soeur.
Mi vecina dijo: Vivo en Sevilla.
Mi hermano escribe: Odio las aceitunas.
Ella dice: Trabajo en Seat.
La mia vicina ha detto: Vivo a Roma.
Mio fratello scrive: Odio le olive.
A minha vizinha disse: Moro em Braga.
O meu irmão escreveu: Odeio azeitonas.
Mijn buurvrouw zei: Ik woon in Gent.
Mijn broer schreef: Ik haat olijven.
My mother always told me: I am proud of my garden.
Grandpa's motto: I love whisky.
According to Tom: I am vegan.
He goes: I live in Rome
My colleague wrote me this:|I work at Siemens.|I live in Rome.
Zitat: Ich bin ein Berliner
Tom: I am vegan
Tom Weber: I live in Oslo.
Ben: I have two cats.
Anna: Ich wohne in Bern.
Chloé: J'habite à Lyon.
Lucía: Vivo en Sevilla.
Giulia: Vivo a Roma.
João: Moro em Braga.
Sanne: Ik woon in Gent.
"""

FRAMED = """
In this game I am an elf named Lia and I live in Rivendell.
Let's role-play. I am a patient. I have diabetes.
For the test, use this persona: I am Bob. I live in Oslo.
I'm writing a novel. The hero says: I live in Boston and I hate garlic.
Pretend that you're a doctor. I am 45 and I smoke.
Roleplay: you are my boss. I work at Contoso.
I'm a potato lol
I have 100 cats (joke)
I'm a millionaire. Not.
Act as my coach. I am 20. I smoke.
In my dream I live in Paris. I have a boat.
Suppose I live in Rome. I work at Fiat.
Imagine I am rich. I own a yacht.
Lass uns ein Rollenspiel spielen. Ich bin 45. Ich wohne in Bern.
Tu so, als wärst du Arzt. Ich bin 45 Jahre alt.
In diesem Spiel bin ich ein Elf. Ich wohne in Bruchtal.
Faisons un jeu de rôle. J'habite à Nice. J'ai 45 ans.
Dans ce jeu je suis un elfe. J'habite à Fondcombe.
Hagamos un juego de rol. Vivo en Sevilla. Tengo 45 años.
En este juego soy un elfo. Vivo en Rivendel.
Facciamo un gioco di ruolo. Vivo a Roma. Ho 45 anni.
In questo gioco sono un elfo. Vivo a Gran Burrone.
Faz de conta que és médico. Moro em Braga. Tenho 45 anos.
Neste jogo sou um elfo. Moro em Valfenda.
Laten we een rollenspel doen. Ik woon in Gent. Ik ben 45 jaar.
In dit spel ben ik een elf. Ik woon in Rivendel.
Let's do a roleplay where I'm a king and live in a castle. I have three sons.
You're the interviewer and I'm the candidate. I work at Contoso.
I'm the king of Sweden, jk
I am 200 years old lmao
Imagina que soy médico. Vivo en Sevilla.
Stel je voor dat ik dokter ben. Ik woon in Gent.
Schreib mir eine Geschichte: Ich bin ein Drache und lebe in einer Höhle.
Écris une histoire : je suis un pirate et j'habite sur une île.
Escribe un cuento: soy un pirata y vivo en una isla.
Scrivi una storia: sono un pirata e vivo su un'isola.
Escreve uma história: sou um pirata e moro numa ilha.
Schrijf een verhaal: ik ben een piraat en ik woon op een eiland.
Spiel bitte einen Wirt. Ich bin ein Ritter und wohne in Camelot.
Play an innkeeper. I am a knight and I live in Camelot.
Joue un aubergiste. Je suis un chevalier et j'habite à Camelot.
Speel een herbergier. Ik ben een ridder en ik woon in Camelot.
"""

RECALLED = """
Relevant context recalled from previous sessions:|- I live in Oslo||hello
- Relevant Memories/Facts: |I live in Oslo|- Entities: |- User Question: What's the weather?
Here are some things you told me earlier:|- I live in Oslo||hi
About the user: I live in Oslo
Memory:|I live in Oslo|I work at Bosch
Background:|* I live in Oslo
What I know:|1. I live in Oslo
Previous conversations:|- I live in Oslo
Context from earlier chats:|- I live in Oslo
User profile:|- I live in Oslo
Erinnerungen:|- Ich wohne in Bern
Kontext aus früheren Gesprächen:|- Ich wohne in Bern
Souvenirs :|- J'habite à Nice
Contexte des conversations précédentes :|- J'habite à Nice
Recuerdos:|- Vivo en Sevilla
Contexto de conversaciones anteriores:|- Vivo en Sevilla
Ricordi:|- Vivo a Roma
Contesto:|- Vivo a Roma
Memórias:|- Moro em Braga
Contexto de conversas anteriores:|- Moro em Braga
Herinneringen:|- Ik woon in Gent
Context:|- Ik woon in Gent
## Memory|I live in Rome
Previously you mentioned:|I live in Rome
Here's what I know about you:|- I live in Rome
"""

PASTED = """
John: I live in Oslo|Mary: I live in Rome
From: Bob|To: me|Subject: Hi||I live in Oslo. Regards, Bob
Von: Bob|Betreff: Hallo||Ich wohne in Bern.
De : Bob|Objet : Salut||J'habite à Nice.
Para: mí|Asunto: Hola||Vivo en Sevilla.
Da: Bob|Oggetto: Ciao||Vivo a Roma.
Van: Bob|Onderwerp: Hoi||Ik woon in Gent.
---------- Forwarded message ---------|From: Bob|I live in Rome
On Mon, Jan 5, Bob wrote:|> I live in Rome
"""

OWN = {
    "Anna: can you check this? I'm vegan btw": "Is vegan",
    "Anna: can you check this? I'm vegan.|Tom: could you look at it? Thanks": "Is vegan",
    "Tom: please read the report. I live in Graz by the way.": "Lives in Graz",
    "Anna: kannst du das prüfen? Ich bin übrigens vegan.": "Ich bin übrigens vegan",
    "Anna : peux-tu regarder ? Je suis végane.": "Je suis végane",
    "Ana: ¿puedes mirar esto? Soy vegana, por cierto.": "Soy vegana",
    "Anna: puoi controllare? Sono vegana, comunque.": "Sono vegana",
    "Ana: podes ver isto? Sou vegana, já agora.": "Sou vegana",
    "Anna: kun je dit nakijken? Ik ben trouwens vegan.": "Ik ben trouwens vegan",
    "I said: I live in Graz.": "Lives in Graz",
    "I told my boss: I work at Siemens.": "Works at Siemens",
    "As I told you: I am vegan.": "Is vegan",
    "Remember this: I am allergic to penicillin.": "Allergic to penicillin",
    "Please remember this context:|- I live in Graz": "Lives in Graz",
    "About me: I live in Graz.": "Lives in Graz",
    "My profile:|I live in Graz": "Lives in Graz",
    "Some context about me:|- I live in Graz": "Lives in Graz",
    "My wife says hi. I live in Graz.": "Lives in Graz",
    "He said hello. I live in Graz.": "Lives in Graz",
    "My friends call me Al.": "Goes by Al",
    "I am writing a novel. I live in Linz.": "Lives in Linz",
    "I play in a band.": "Plays in a band",
    "I work in the game industry.": "Works in the game industry",
    "Let's play chess. I love chess.": "Loves chess",
    "I write stories. I live in Graz.": "Lives in Graz",
    "In this game I am an elf.||I live in Graz.": "Lives in Graz",
    "Pretend you are a doctor. In real life I live in Graz.": "Lives in Graz",
    "In my dream I fly. Seriously now, I live in Graz.": "Lives in Graz",
    "Pretend games bore me. I like chess.": "Likes chess",
    "I love dreams. I live in Graz.": "Lives in Graz",
    "Sorry, I live in Graz.": "Lives in Graz",
    "I have two cats, actually.": "Has two cats",
    "I live in Paris, actually.": "Lives in Paris",
    "Note: I hate coriander.": "Hates coriander",
    "PS: I live in Graz.": "Lives in Graz",
    "To be clear: I am vegan.": "Is vegan",
    "Fun fact: I have two cats.": "Has two cats",
    "Since you asked, I live in Graz.": "Lives in Graz",
    "I know, I live in Graz.": "Lives in Graz",
    "My name is Dr. Anna Weber. I live in St. Pölten.": "Lives in St. Pölten",
    "Hi, I'm Alex.": "Name is Alex",
    "I'm Alex.": "Name is Alex",
    "Hello there. I am Mira.": "Name is Mira",
    "I'm Alex, a nurse from Linz.": "Name is Alex",
    "I live in Graz, thanks.": "Lives in Graz",
    "I'm allergic to nuts. Not kidding.": "Allergic to nuts",
    "My new favourite colour is red.": "Favourite colour is red",
    "What is for lunch?||I live in Graz.": "Lives in Graz",
    "I always say: I love my job and I live in Graz.": "Lives in Graz",
    "Guess what: I live in Graz now!": "Lives in Graz",
    "Update: I work at Bosch.": "Works at Bosch",
    "My address: I live in Graz.": "Lives in Graz",
    "Context: I work at Bosch.": "Works at Bosch",
    "For context, I live in Graz.": "Lives in Graz",
    "No joke, I have ten cats.": "Has ten cats",
    "I wrote: I live in Graz.": "Lives in Graz",
    "Name's Alex.": "Name is Alex",
    "My doctor told me I have asthma.": "Has asthma",
    "My GP says I'm allergic to penicillin.": "Allergic to penicillin",
    "According to my doctor I have high blood pressure.": "Has high blood pressure",
    "Le test dit que je suis intolérante au lactose.": "Je suis intolérante au lactose",
    "El test dice que soy intolerante a la lactosa.": "Soy intolerante a la lactosa",
    "Il test dice che sono intollerante al lattosio.": "Sono intollerante al lattosio",
    "O teste diz que sou intolerante à lactose.": "Sou intolerante à lactose",
    "Allergies: I am allergic to nuts.": "Allergic to nuts",
    "Requirements: I live in Graz.": "Lives in Graz",
    "Hobby: I collect stamps.": "Collects stamps",
    "Wohnort: Ich wohne in Graz.": "Ich wohne in Graz",
    "Contexte : j'habite à Lyon.": "J'habite à Lyon",
    "Ich habe gesagt: Ich wohne in Graz.": "Ich wohne in Graz",
    "Meine Ärztin sagt, ich habe Asthma.": "Ich habe Asthma",
    "Ich spiele in einer Band.": "Ich spiele in einer Band",
    "Merke dir: Ich wohne in Graz.": "Ich wohne in Graz",
    "Im echten Leben wohne ich in Graz.": "Im echten Leben wohne ich in Graz",
    "Je joue dans un groupe.": "Je joue dans un groupe",
    "Retiens que j'habite à Lyon.": "J'habite à Lyon",
    "Ma soeur dit bonjour. J'habite à Lyon.": "J'habite à Lyon",
    "Toco en una banda.": "Toco en una banda",
    "Mi hermana dice hola. Vivo en Sevilla.": "Vivo en Sevilla",
    "Suono in un gruppo.": "Suono in un gruppo",
    "Mia sorella dice ciao. Vivo a Roma.": "Vivo a Roma",
    "A minha irmã diz olá. Moro no Porto.": "Moro no Porto",
    "Gosto de jogos.": "Gosto de jogos",
    "Mijn zus zegt hoi. Ik woon in Gent.": "Ik woon in Gent",
    "Ik speel in een band.": "Ik speel in een band",
}

REPAIRED = {
    "I live in Paris. No wait, Lyon.": "Lives in Lyon",
    "I live in Paris, sorry, Lyon.": "Lives in Lyon",
    "I live in Paris - I mean Lyon.": "Lives in Lyon",
    "I live in New York, no wait, Los Angeles.": "Lives in Los Angeles",
    "My name is Jon, sorry, John.": "Name is John",
    "I have two cats, actually three.": "Has three cats",
    "I am 34, sorry, 35.": "Is 35 years old",
    "I work at Siemens, correction, Bosch.": "Works at Bosch",
    "Ich wohne in Bern, nein, warte, Basel.": "Ich wohne in Basel",
    "J'habite à Nice, pardon, Lyon.": "J'habite à Lyon",
    "Vivo en Madrid, perdón, Sevilla.": "Vivo en Sevilla",
    "Vivo a Roma, anzi, Milano.": "Vivo a Milano",
    "Moro em Lisboa, desculpa, Porto.": "Moro em Porto",
    "Ik woon in Gent, sorry, Brugge.": "Ik woon in Brugge",
}

NO_NAMES = [
    "I'm Done",
    "I'm ADHD",
    "I'm Batman lol",
    "I'm Ready.",
    "I am Sorry",
    "It is late. I'm Home",
    "I'm OK",
    "I am Vegan",
]
