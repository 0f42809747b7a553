// The Vercel AI SDK, with its provider for OpenAI-compatible servers.

import assert from "node:assert/strict"
import { beforeEach, test } from "node:test"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { embedMany, generateObject, generateText, stepCountIs, streamText, tool } from "ai"
import { z } from "zod"
import { far, gathered, MODEL, pick, PIXEL, servers } from "./mnemoir_calls.mjs"

const providerOf = (url) =>
  createOpenAICompatible({ name: "mnemoir", baseURL: `${url}/v1`, apiKey: "any", supportsStructuredOutputs: true })
const provider = providerOf(servers.openai)
const asked = { model: provider.chatModel(MODEL), prompt: "How is the weather in Graz?", maxRetries: 0 }
const weather = tool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `Snow in ${city}.`,
})
const CALLS = [
  ["weather", { city: "Graz" }],
  ["weather", { city: "Linz" }],
]

beforeEach(far.clear)

test("a text comes whole and streamed", async () => {
  await far.says("Much snow.")
  const whole = await generateText(asked)
  assert.deepEqual([whole.text, whole.usage.outputTokens], ["Much snow.", 5])
  await far.says("Much snow.")
  assert.equal((await gathered(streamText(asked).textStream)).join(""), "Much snow.")
})

test("tools are called and their results are read", async () => {
  await far.says("", { tool_calls: CALLS })
  await far.says("It snows.")
  const made = await generateText({ ...asked, tools: { weather }, stopWhen: stepCountIs(3) })
  assert.equal(made.text, "It snows.")
  const results = (await far.body()).messages.filter((message) => message.role === "tool")
  assert.deepEqual(results.map((message) => message.content), ["Snow in Graz.", "Snow in Linz."])
})

test("tools are called in a stream", async () => {
  await far.says("", { tool_calls: CALLS })
  await far.says("It snows.")
  const made = streamText({ ...asked, tools: { weather }, stopWhen: stepCountIs(3) })
  assert.equal((await gathered(made.textStream)).join(""), "It snows.")
})

test("reasoning comes whole and streamed", async () => {
  await far.says("Snow.", { thinking: "It is winter." })
  assert.equal((await generateText(asked)).reasoningText, "It is winter.")
  await far.says("Snow.", { thinking: "It is winter." })
  const streamed = streamText(asked)
  await streamed.consumeStream()
  assert.equal(await streamed.reasoningText, "It is winter.")
})

test("an object follows its schema", async () => {
  await far.says('{"city": "Graz"}')
  const told = { schemaName: "weather", schemaDescription: "One city." }
  const made = await generateObject({ ...asked, schema: z.object({ city: z.string() }), ...told })
  assert.deepEqual(made.object, { city: "Graz" })
  const form = (await far.body()).response_format.json_schema
  assert.deepEqual([form.name, form.description], ["weather", "One city."])
})

test("members that Mnemoir does not use arrive as sent", async () => {
  const own = { top_k: 20, parallel_tool_calls: false, chat_template_kwargs: { enable_thinking: false } }
  await generateText({ ...asked, tools: { weather }, providerOptions: { mnemoir: own } })
  assert.deepEqual(pick(await far.body(), own), own)
})

test("a picture arrives", async () => {
  const content = [
    { type: "text", text: "What is it?" },
    { type: "image", image: PIXEL, mediaType: "image/png" },
  ]
  await generateText({ model: asked.model, maxRetries: 0, messages: [{ role: "user", content }] })
  assert.equal((await far.body()).messages.at(-1).content.at(-1).image_url.url, PIXEL)
})

test("usage comes back with its details", async () => {
  const details = { completion_tokens_details: { reasoning_tokens: 3 } }
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12, ...details }
  await far.saysWhole([{ message: { role: "assistant", content: "Snow" } }], { usage })
  const used = (await generateText(asked)).usage
  assert.equal(used.outputTokenDetails?.reasoningTokens ?? used.reasoningTokens, 3)
})

for (const status of [400, 403, 429, 503])
  test(`an error keeps its status, ${status}`, async () => {
    await far.fails(status, null, { "Retry-After": "30" })
    await assert.rejects(generateText(asked), (thrown) => thrown.statusCode === status)
    assert.equal((await far.asked()).length, 1)
  })

test("texts are embedded", async () => {
  const model = (provider.embeddingModel ?? provider.textEmbeddingModel)("text-embedding-3-small")
  const made = await embedMany({ model, values: ["one", "two"], maxRetries: 0 })
  assert.deepEqual(made.embeddings.map((vector) => vector.length), [16, 16])
})

test("an example of `mnemoir init` passes tools", async () => {
  await far.says("", { tool_calls: CALLS })
  await far.says("It snows.")
  const model = providerOf(servers.tree).chatModel("single-model")
  const made = await generateText({ ...asked, model, tools: { weather }, stopWhen: stepCountIs(3) })
  assert.equal(made.text, "It snows.")
})
