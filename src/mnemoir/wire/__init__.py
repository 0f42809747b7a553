"""Wire protocols, one a file, in both directions: requests of clients, requests to models, and their answers.

Everything here is pure: dicts and bytes in, values of `core` out, and back. No sockets, no clock but the Ollama
durations. Each dialect has `read_request` and `write_reply` (Mnemoir is the server), `write_request` and `read_reply`
(Mnemoir is the client), and for streams a `StreamWriter` and a `StreamReader`; the Responses API and KoboldCpp's own
protocol are used with models only. A client's error is an InvalidRequest that names the field; an error of a model's
server is a ProviderError.
"""
