// The `openai` package: everything that it can ask arrives as it was said.

import assert from "node:assert/strict"
import { beforeEach, test } from "node:test"
import OpenAI from "openai"
import { zodResponseFormat } from "openai/helpers/zod"
import { z } from "zod"
import { far, gathered, MODEL, PARAMETERS, pick, PIXEL, servers, TOOL, USER } from "./mnemoir_calls.mjs"

const clientOf = (url) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "any", maxRetries: 0 })
const client = clientOf(servers.openai)
const chat = (more = {}) => client.chat.completions.create({ model: MODEL, messages: [USER], ...more })
const CALLS = [
  ["weather", { city: "Graz" }],
  ["weather", { city: "Linz" }],
]
const UNUSED = {
  logit_bias: { 42: -100 },
  logprobs: true,
  top_logprobs: 2,
  parallel_tool_calls: false,
  prediction: { type: "content", content: "Snow." },
  service_tier: "flex",
  prompt_cache_key: "weather",
  top_k: 20,
  min_p: 0.05,
  repetition_penalty: 1.1,
  chat_template_kwargs: { enable_thinking: false },
}

beforeEach(far.clear)

test("an answer comes whole and streamed", async () => {
  await far.says("Much snow.")
  assert.equal((await chat()).choices[0].message.content, "Much snow.")
  await far.says("Much snow.")
  const chunks = await gathered(await chat({ stream: true, stream_options: { include_usage: true } }))
  assert.equal(chunks.map((one) => one.choices[0]?.delta.content ?? "").join(""), "Much snow.")
  assert.equal(chunks.at(-1).usage.completion_tokens, 5)
})

for (const stream of [false, true])
  test(`members that Mnemoir does not use arrive as sent, ${stream ? "streamed" : "whole"}`, async () => {
    const answer = await chat({ ...UNUSED, stream })
    if (stream) await gathered(answer)
    assert.deepEqual(pick(await far.body(), UNUSED), UNUSED)
  })

test("tools are called and run by runTools", async () => {
  await far.says("", { tool_calls: CALLS })
  await far.says("It snows.")
  const run = (input) => `Snow in ${input.city}.`
  const tool = { type: "function", function: { ...TOOL.function, function: run, parse: JSON.parse } }
  const runner = client.chat.completions.runTools({ model: MODEL, messages: [USER], tools: [tool] })
  assert.equal(await runner.finalContent(), "It snows.")
  const results = (await far.body()).messages.filter((message) => message.role === "tool")
  assert.deepEqual(results.map((message) => message.content), ["Snow in Graz.", "Snow in Linz."])
})

test("tools are called in a stream", async () => {
  await far.says("", { tool_calls: CALLS })
  const parts = (await gathered(await chat({ tools: [TOOL], stream: true }))).flatMap(
    (one) => one.choices[0]?.delta.tool_calls ?? [],
  )
  const told = [0, 1].map((at) => parts.filter((part) => part.index === at).map((part) => part.function.arguments ?? ""))
  assert.deepEqual(told.map((texts) => JSON.parse(texts.join("")).city), ["Graz", "Linz"])
})

for (const strict of [true, false])
  test(`a schema arrives as sent, strict ${strict}`, async () => {
    const form = { name: "weather", description: "One city.", strict, schema: PARAMETERS }
    await chat({ response_format: { type: "json_schema", json_schema: form } })
    assert.deepEqual((await far.body()).response_format.json_schema, form)
  })

test("an answer is parsed", async () => {
  await far.says('{"city": "Graz"}')
  const format = zodResponseFormat(z.object({ city: z.string() }), "weather")
  const parse = (client.chat.completions.parse ?? client.beta?.chat?.completions?.parse).bind(client.chat.completions)
  const answer = await parse({ model: MODEL, messages: [USER], response_format: format })
  assert.deepEqual(answer.choices[0].message.parsed, { city: "Graz" })
  assert.equal((await far.body()).response_format.json_schema.strict, true)
})

test("a refusal stays a refusal", async () => {
  await far.saysWhole([{ message: { role: "assistant", content: null, refusal: "I cannot help with that." } }])
  const [choice] = (await chat()).choices
  assert.deepEqual([choice.message.refusal, choice.finish_reason], ["I cannot help with that.", "stop"])
})

test("several choices arrive whole and streamed", async () => {
  await far.saysWhole(["a", "b"].map((content) => ({ message: { role: "assistant", content } })))
  assert.deepEqual((await chat({ n: 2 })).choices.map((choice) => choice.message.content), ["a", "b"])
  await far.saysChoices(
    { index: 0, delta: { content: "a" } },
    { index: 1, delta: { content: "b" } },
    { index: 0, finish_reason: "stop" },
    { index: 1, finish_reason: "stop" },
  )
  const told = (await gathered(await chat({ n: 2, stream: true }))).flatMap((one) => one.choices)
  const textOf = (index) => told.filter((one) => one.index === index).map((one) => one.delta.content ?? "").join("")
  assert.deepEqual([textOf(0), textOf(1)], ["a", "b"])
})

test("logprobs come back", async () => {
  const logprobs = { content: [{ token: "Snow", logprob: -0.1, bytes: [83], top_logprobs: [] }], refusal: null }
  await far.saysWhole([{ message: { role: "assistant", content: "Snow" }, logprobs }])
  assert.deepEqual((await chat({ logprobs: true })).choices[0].logprobs, logprobs)
})

test("pictures, sound and files arrive as sent", async () => {
  const content = [
    { type: "image_url", image_url: { url: PIXEL, detail: "low" } },
    { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
    { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
  ]
  await chat({ messages: [{ role: "user", content }] })
  assert.deepEqual((await far.body()).messages.at(-1).content, content)
})

for (const [status, code, error] of [
  [400, "context_length_exceeded", OpenAI.BadRequestError],
  [403, "unsupported_country", OpenAI.PermissionDeniedError],
  [404, "model_not_found", OpenAI.NotFoundError],
  [429, "insufficient_quota", OpenAI.RateLimitError],
  [503, null, OpenAI.InternalServerError],
])
  test(`an error keeps its class and its code, ${status}`, async () => {
    await far.fails(status, code)
    await assert.rejects(chat(), (thrown) => thrown instanceof error && (code === null || thrown.code === code))
    assert.equal((await far.asked()).length, 1)
  })

test("texts and tokens are embedded", async () => {
  const embed = (input, more) => client.embeddings.create({ model: "text-embedding-3-small", input, ...more })
  assert.deepEqual((await embed(["one", "two"])).data.map((one) => one.embedding.length), [16, 16])
  await far.embeds([[1, 0]])
  assert.deepEqual((await embed([1, 2, 3], { encoding_format: "float" })).data[0].embedding, [1, 0])
  assert.deepEqual((await far.body()).input, [1, 2, 3])
})

test("each prompt of a list is completed", async () => {
  const choices = ["a", "b"].map((text, index) => ({ text, index, logprobs: null, finish_reason: "stop" }))
  await far.saysJson({ id: "cmpl", object: "text_completion", created: 1, model: MODEL, choices })
  const made = await client.completions.create({ model: MODEL, prompt: ["one", "two"] })
  assert.deepEqual(made.choices.map((choice) => choice.text), ["a", "b"])
})

test("models are listed and found", async () => {
  assert.ok((await gathered(client.models.list())).some((model) => model.id === MODEL))
  await assert.rejects(client.models.retrieve("no-such-model/x"), OpenAI.NotFoundError)
})

test("an example of `mnemoir init` passes tools and structured output", async () => {
  await far.says("", { tool_calls: CALLS })
  const form = { name: "weather", strict: true, schema: { ...PARAMETERS, additionalProperties: false } }
  const answer = await clientOf(servers.tree).chat.completions.create({
    model: "single-model",
    messages: [USER],
    tools: [TOOL],
    response_format: { type: "json_schema", json_schema: form },
  })
  assert.equal(answer.choices[0].message.tool_calls.length, 2)
  assert.deepEqual((await far.body()).response_format.json_schema, form)
})
