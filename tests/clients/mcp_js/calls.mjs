// The official TypeScript packages of the Model Context Protocol in front of `/mcp`, and its conformance suite.

import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { test } from "node:test"
import { promisify } from "node:util"
import { servers } from "./mnemoir_calls.mjs"

const KEY = "a-key-of-sixteen-characters"
const found = async (name) => import(name).catch(() => null)

/** The packages that are installed: of the first line, and of the second. */
const first = await found("@modelcontextprotocol/sdk/client/index.js")
const lines = [
  first && { ...first, ...(await found("@modelcontextprotocol/sdk/client/streamableHttp.js")), line: "1.x" },
  await found("@modelcontextprotocol/client").then((all) => all && { ...all, line: "2.x" }),
].filter(Boolean)

async function connected({ Client, StreamableHTTPClientTransport }, headers) {
  const client = new Client({ name: "calls", version: "1.0.0" })
  const requestInit = { headers: { "X-User-Id": randomUUID(), ...headers } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${servers.agents}/mcp`), { requestInit }))
  return client
}

for (const packages of lines) {
  const told = async (client, name, args = {}) => {
    const answer = await client.callTool({ name, arguments: args })
    assert.ok(!answer.isError, JSON.stringify(answer))
    return answer.structuredContent.result ?? answer.structuredContent
  }

  test(`every tool answers, ${packages.line}`, async () => {
    const client = await connected(packages, { Authorization: `Bearer ${KEY}` })
    assert.equal((await client.listTools()).tools.length, 10)
    const [added] = await told(client, "add_memory", { text: "I am allergic to nuts." })
    assert.equal((await told(client, "search_memories", { query: "What may I eat?" }))[0].id, added.id)
    assert.equal((await told(client, "list_memories"))[0].id, added.id)
    assert.equal((await told(client, "get_memory", { memory_id: added.id })).memory, added.memory)
    assert.match(await told(client, "get_context"), new RegExp(added.id))
    assert.deepEqual(await told(client, "search_conversations", { query: "nuts" }), [])
    assert.equal((await told(client, "search", { query: "nuts" })).results[0].id, added.id)
    assert.equal((await told(client, "fetch", { id: added.id })).text, added.memory)
    assert.equal((await told(client, "update_memory", { memory_id: added.id, text: "Likes tea" })).memory, "Likes tea")
    assert.equal(await told(client, "delete_memory", { memory_id: added.id }), `Deleted ${added.id}.`)
    await client.close()
  })

  test(`the resource and the prompt are there, ${packages.line}`, async () => {
    const client = await connected(packages, { Authorization: `Bearer ${KEY}` })
    const [{ uri }] = (await client.listResources()).resources
    assert.match((await client.readResource({ uri })).contents[0].text, /Nothing is remembered/)
    const recalled = await client.getPrompt({ name: "recall", arguments: { topic: "nuts" } })
    assert.match(recalled.messages[0].content.text, /Nothing is remembered/)
    await client.close()
  })

  test(`a wrong argument is an error that names it, ${packages.line}`, async () => {
    const client = await connected(packages, { Authorization: `Bearer ${KEY}` })
    const answer = await client.callTool({ name: "search_memories", arguments: { query: 5 } })
    assert.ok(answer.isError)
    assert.match(answer.content[0].text, /The argument `query` must be a text\./)
    await client.close()
  })

  for (const headers of [{}, { Authorization: "Bearer a-wrong-key-of-sixteen" }])
    test(`without a valid key nobody gets in, ${packages.line}, ${Object.keys(headers)}`, () =>
      assert.rejects(connected(packages, headers)))
}

// the scenarios that need no server made for the suite; the others ask for tools and resources of its own
const SCENARIOS = [
  ...["server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-error"],
  ...["server-sse-multiple-streams", "resources-list", "prompts-list", "dns-rebinding-protection"],
]
const suite = new URL("./node_modules/.bin/conformance", import.meta.url).pathname
const has = (await found("node:fs")).existsSync(suite)

for (const scenario of has ? SCENARIOS : [])
  test(`the conformance suite passes: ${scenario}`, async () => {
    const asked = ["server", "--url", `${servers.openai}/mcp`, "--scenario", scenario]
    await promisify(execFile)(process.execPath, [suite, ...asked])
  })
