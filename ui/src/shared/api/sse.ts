/**
 * The `data` of each server-sent event of a body, as it comes; comments are left out. Aborting the fetch ends it.
 * `onId` is told each event's id, which may stand in an event of its own, when all before it was taken.
 */
export async function* serverEvents(
  body: ReadableStream<Uint8Array>,
  onId?: (id: string) => void,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const events = rest.split(/\r?\n\r?\n/);
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = fieldOf(event, 'data');
      if (data) yield data;
      const id = fieldOf(event, 'id');
      if (id) onId?.(id);
    }
  }
  const data = fieldOf(rest + decoder.decode(), 'data');
  if (data) yield data;
}

function fieldOf(event: string, name: string): string {
  return event
    .split(/\r?\n/)
    .filter(line => line.startsWith(`${name}:`))
    .map(line => line.slice(name.length + 1).replace(/^ /, ''))
    .join('\n');
}
