// Add, search and list memories with fetch. Run `make serve` first, then: node examples/memories.mjs [ADDRESS]
// ADDRESS is that of the server: else MNEMOIR_URL, else http://127.0.0.1:6060.

const server = process.argv[2] ?? process.env.MNEMOIR_URL ?? "http://127.0.0.1:6060";

async function call(path, method = "GET", body = undefined) {
  const response = await fetch(`${server}/api/memories${path}`, {
    method,
    headers: { "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  }).catch(() => {
    console.error(`No server answers at ${server}. Start it with make serve, or name its address behind the command.`);
    process.exit(1);
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

const messages = [{ role: "user", content: "I love hiking in the mountains and I prefer Python for data work." }];
console.log((await call("", "POST", { messages, user_id: "mira" })).message);

const found = await call("/search", "POST", { query: "outdoor activities", user_id: "mira", limit: 5 });
for (const memory of found.results) console.log(memory.score.toFixed(2), memory.memory);

console.log("in all:", (await call("/mira?limit=100")).total);
