/** The `data` of each server-sent event of a body, as it comes; comments are left out. Aborting the fetch ends it. */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const events = rest.split(/\r?\n\r?\n/);
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = dataOf(event);
      if (data) yield data;
    }
  }
  const data = dataOf(rest + decoder.decode());
  if (data) yield data;
}

function dataOf(event: string): string {
  return event
    .split(/\r?\n/)
    .filter(line => line.startsWith('data:'))
    .map(line => line.slice(5).replace(/^ /, ''))
    .join('\n');
}
