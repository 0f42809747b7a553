// The `ollama` package in front of an Ollama: everything that it can say arrives as it was said.

import assert from "node:assert/strict"
import { beforeEach, test } from "node:test"
import { Ollama } from "ollama"
import { far, gathered, MODEL, PARAMETERS, pick, PIXEL, servers, TOOL, USER } from "./mnemoir_calls.mjs"

const client = new Ollama({ host: servers.ollama })
const elsewhere = new Ollama({ host: servers.openai })
const chat = (more = {}) => client.chat({ model: MODEL, messages: [USER], ...more })
const OPTIONS = { num_ctx: 8192, top_k: 20, min_p: 0.05, repeat_penalty: 1.1, mirostat: 2, temperature: 0.5 }
const TIMES = { total_duration: 9000, load_duration: 10, prompt_eval_duration: 400, eval_duration: 5000, eval_count: 5 }
const ended = (more) => ({ model: MODEL, created_at: "2026-01-01T00:00:00Z", done: true, ...TIMES, ...more })

beforeEach(far.clear)

test("an answer comes whole and streamed", async () => {
  await far.says("Much snow.")
  assert.equal((await chat()).message.content, "Much snow.")
  await far.says("Much snow.")
  const parts = await gathered(await chat({ stream: true }))
  assert.equal(parts.map((part) => part.message.content).join(""), "Much snow.")
  assert.equal(parts.at(-1).done, true)
})

for (const stream of [false, true])
  test(`all options and keep_alive arrive as sent, ${stream ? "streamed" : "whole"}`, async () => {
    const answer = await chat({ options: OPTIONS, keep_alive: "10m", stream })
    if (stream) await gathered(answer)
    const body = await far.body()
    assert.deepEqual(pick(body.options, OPTIONS), OPTIONS)
    assert.equal(body.keep_alive, "10m")
  })

for (const think of [true, false, "high"])
  test(`thinking is asked for and comes back, ${think}`, async () => {
    await far.says("Snow.", { thinking: "It is winter." })
    assert.equal((await chat({ think })).message.thinking, "It is winter.")
    assert.equal((await far.body()).think, think)
  })

test("thinking streams", async () => {
  await far.says("Snow.", { thinking: "It is winter." })
  const parts = await gathered(await chat({ think: true, stream: true }))
  assert.equal(parts.map((part) => part.message.thinking ?? "").join(""), "It is winter.")
})

test("a level of thinking is an effort of reasoning for another server", async () => {
  await elsewhere.chat({ model: MODEL, messages: [USER], think: "high" })
  assert.equal((await far.body()).reasoning_effort, "high")
})

test("tools are called whole and streamed", async () => {
  await far.says("", { tool_calls: [["weather", { city: "Graz" }]] })
  const [call] = (await chat({ tools: [TOOL] })).message.tool_calls
  assert.deepEqual(call.function, { ...call.function, name: "weather", arguments: { city: "Graz" } })
  await far.says("", { tool_calls: [["weather", { city: "Graz" }]] })
  const parts = await gathered(await chat({ tools: [TOOL], stream: true }))
  assert.equal(parts.flatMap((part) => part.message.tool_calls ?? []).length, 1)
})

test("a format and pictures arrive", async () => {
  const picture = PIXEL.split(",")[1]
  await chat({ messages: [{ ...USER, images: [picture] }], format: PARAMETERS })
  const body = await far.body()
  assert.deepEqual([body.messages.at(-1).images, body.format], [[picture], PARAMETERS])
})

test("times are those of the model", async () => {
  await far.saysJson(ended({ message: { role: "assistant", content: "Snow." }, done_reason: "stop" }))
  assert.deepEqual(pick(await chat(), TIMES), TIMES)
})

for (const own of [{ raw: true }, { template: "{{ .Prompt }}" }, { suffix: " return x" }, { context: [1, 2, 3] }])
  test(`what only generate has arrives as sent, ${Object.keys(own)[0]}`, async () => {
    await far.says("x = 1")
    const answer = await client.generate({ model: MODEL, prompt: "def f():", ...own })
    assert.equal(answer.response, "x = 1")
    assert.deepEqual(pick(await far.body(), { prompt: 0, ...own }), { prompt: "def f():", ...own })
  })

test("a model is unloaded and loaded by the Ollama behind", async () => {
  await far.saysJson(ended({ response: "", done_reason: "unload" }))
  assert.equal((await client.generate({ model: MODEL, prompt: "", keep_alive: 0 })).done_reason, "unload")
  assert.equal((await far.body()).keep_alive, 0)
  await far.saysJson(ended({ message: { role: "assistant", content: "" }, done_reason: "load" }))
  assert.equal((await chat({ messages: [] })).done_reason, "load")
})

test("loading and unloading ask no other model", async () => {
  assert.equal((await elsewhere.generate({ model: MODEL, prompt: "", keep_alive: 0 })).done_reason, "unload")
  assert.equal((await elsewhere.chat({ model: MODEL, messages: [] })).done_reason, "load")
  assert.deepEqual(await far.asked(), [])
})

test("texts are embedded", async () => {
  const made = await client.embed({ model: "far-embedder", input: ["one", "two"] })
  assert.deepEqual(made.embeddings.map((vector) => vector.length), [16, 16])
})

test("models are listed and shown", async () => {
  assert.ok((await client.list()).models.some((model) => model.name === `${MODEL}:latest`))
  assert.ok((await client.show({ model: MODEL })).capabilities.includes("completion"))
})

for (const status of [400, 403, 404, 429, 503])
  test(`an error keeps its status, ${status}`, async () => {
    await far.saysJson({ error: "said the far side" }, status, { "Retry-After": "30" })
    await assert.rejects(chat(), (thrown) => thrown.status_code === status && /said the far side/.test(thrown.message))
  })
