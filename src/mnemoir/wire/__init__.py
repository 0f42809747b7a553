"""Wire protocols, one a file, both directions: what a client sends us, what we send a model, and the answers.

Everything here is pure: dicts and bytes in, values of `core` out, and back. No sockets, no clock but the Ollama
durations. Each dialect has `read_request` and `write_reply` (we are the server), `write_request` and `read_reply`
(we are the client), and for streams a `StreamWriter` and a `StreamReader`; the Responses API and KoboldCpp's own
protocol are spoken to models only. What a client got wrong is an InvalidRequest that names the field; what a model's
server got wrong is a ProviderError.
"""
