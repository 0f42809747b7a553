"""Requests to forget what is remembered, in the languages that facts are learned from, and what is none."""

import pytest

from mnemoir.server.memories.forget_requests import asks_to_forget

ASKING = [
    "Please forget that I live in Graz.",
    "Can you forget about my job?",
    "Hi! Could you please delete that memory?",
    "Forget everything you know about me",
    "You can forget my old address now.",
    "Don't remember this.",
    "Bitte vergiss, dass ich in Graz wohne.",
    "Kannst du bitte meine Adresse vergessen?",
    "Lösche alles, was du über mich weißt",
    "Oublie que j'habite à Graz.",
    "Peux-tu oublier mon adresse ?",
    "Olvida que vivo en Graz.",
    "Por favor, olvida mi dirección.",
    "Dimentica che vivo a Graz.",
    "Puoi dimenticare il mio indirizzo?",
    "Esquece que moro em Graz.",
    "Por favor, esqueça o meu endereço.",
    "Vergeet dat ik in Graz woon.",
    "Kun je mijn adres vergeten?",
]
NOT_ASKING = [
    "Don't forget that I live in Graz.",
    "I forgot my password.",
    "I often forget names.",
    "Delete the third line of this file.",
    "Remove the seeds from the tomatoes.",
    "How do I forget somebody?",
    "Vergiss nicht, dass ich in Graz wohne.",
    "Ich habe meinen Schlüssel vergessen.",
    "N'oublie pas que j'habite à Graz.",
    "No olvides que vivo en Graz.",
    "Non dimenticare che vivo a Graz.",
    "Não te esqueças de que moro em Graz.",
    "Vergeet niet dat ik in Graz woon.",
    "",
]


@pytest.mark.parametrize("text", ASKING)
def test_a_request_to_forget_is_known(text):
    assert asks_to_forget(text)


@pytest.mark.parametrize("text", NOT_ASKING)
def test_what_asks_for_something_else_is_none(text):
    assert not asks_to_forget(text)
