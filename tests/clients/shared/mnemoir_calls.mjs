// What the calls of every JavaScript client share: the addresses of Mnemoir, and the scripted model behind all of them.

export const MODEL = "far-model"
export const USER = { role: "user", content: "How is the weather in Graz?" }
export const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
export const TOOL = {
  type: "function",
  function: { name: "weather", description: "The weather of a city.", parameters: PARAMETERS },
}
export const PIXEL =
  "data:image/png;base64," +
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="

/** The address of each server by what is behind it: `openai`, `ollama`, `responses`, `agents`, `tree`. */
export const servers = JSON.parse(process.env.MNEMOIR_CLIENTS)

const queue = (answer, route = "/chat") =>
  fetch(servers.far + route, { method: "POST", body: JSON.stringify([answer]) })

/** The scripted model: what it will say, and what it was asked. */
export const far = {
  /** Queue an answer: its text, or the members that the script knows (`tool_calls`, `thinking`, `reason`). */
  says: (text, members = {}) => queue({ text, ...members }),
  /** Queue a whole answer of OpenAI chat with these choices, and more members of the answer. */
  saysWhole: (choices, members = {}) =>
    queue({ json: { ...head("chat.completion"), choices: numbered(choices), usage: USAGE, ...members } }),
  /** Queue a streamed answer of OpenAI chat: one event for each choice. */
  saysChoices: (...choices) =>
    queue({ events: choices.map((choice) => ({ ...head("chat.completion.chunk"), choices: [filled(choice)] })) }),
  /** Queue an answer with this body. */
  saysJson: (json, status = 200, headers = {}) => queue({ json, status, headers }),
  /** Queue an error of OpenAI's shape. */
  fails: (status, code = null, headers = {}) =>
    far.saysJson({ error: { message: "said the far side", type: "far", code, param: null } }, status, headers),
  /** Queue an answer of the embedding routes. */
  embeds: (vectors) => queue({ vectors }, "/embeddings"),
  /** The requests with a body. */
  asked: async () => (await fetch(servers.far)).json(),
  /** The body of the last request. */
  body: async () => (await far.asked()).at(-1).body,
  /** Forget what is queued and what was asked. */
  clear: () => fetch(servers.far, { method: "DELETE" }),
}

/** Those members of `object` that `names` has. */
export const pick = (object, names) => Object.fromEntries(Object.keys(names).map((name) => [name, object[name]]))

/** All parts of a stream. */
export const gathered = async (stream) => {
  const parts = []
  for await (const part of stream) parts.push(part)
  return parts
}

const USAGE = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
const head = (object) => ({ id: "chatcmpl-far", object, created: 1767225600, model: MODEL })
const numbered = (choices) => choices.map((choice, index) => ({ index, finish_reason: "stop", ...choice }))
const filled = (choice) => ({ index: 0, delta: {}, finish_reason: null, ...choice })
