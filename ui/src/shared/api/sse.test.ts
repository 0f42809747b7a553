import { serverEvents } from './sse';

function bodyOf(...pieces: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece);
      controller.close();
    },
  });
}

async function all(body: ReadableStream<Uint8Array>): Promise<string[]> {
  const found = [];
  for await (const data of serverEvents(body)) found.push(data);
  return found;
}

test('events are read however the bytes are cut', async () => {
  const bytes = new TextEncoder().encode('data: {"a":"ü"}\n\ndata: [DONE]\n\n');
  const single = Array.from(bytes, byte => new Uint8Array([byte]));
  expect(await all(bodyOf(...single))).toEqual(['{"a":"ü"}', '[DONE]']);
});

test('comments are left out, CRLF and several data lines are understood', async () => {
  expect(await all(bodyOf(': waiting\r\n\r\ndata: a\r\ndata: b\r\n\r\n'))).toEqual(['a\nb']);
});

test('an event that the end cut off is still given', async () => {
  expect(await all(bodyOf('data: a\n\ndata: b'))).toEqual(['a', 'b']);
});

test('the id of an event is told when all before it was taken', async () => {
  const told: string[] = [];
  for await (const data of serverEvents(bodyOf('data: a\n\ndata: b\n\nid: 1\n\ndata: c'), id => told.push(id)))
    told.push(data);
  expect(told).toEqual(['a', 'b', '1', 'c']);
});
