import { Blob } from 'node:buffer';
import { piecesOf } from './pieces';

async function pieces(text: string, most: number): Promise<string[]> {
  const found: string[] = [];
  for await (const piece of piecesOf(new Blob([text]) as unknown as globalThis.Blob, most))
    found.push(await piece.text());
  return found;
}

test('pieces are whole lines and make up the file', async () => {
  expect(await pieces('one\ntwo\nthree\nfour', 9)).toEqual(['one\ntwo\n', 'three\n', 'four']);
  expect(await pieces('ä\nö\n', 4)).toEqual(['ä\n', 'ö\n']);
});

test('a file that fits is one piece, an empty one none', async () => {
  expect(await pieces('one\ntwo\n', 8)).toEqual(['one\ntwo\n']);
  expect(await pieces('', 8)).toEqual([]);
});

test('a line longer than a piece is not cut', async () => {
  expect(await pieces('a very long line\ntwo\n', 4)).toEqual(['a very long line\ntwo\n']);
});
