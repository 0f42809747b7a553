const MOST_BYTES = 5_000_000; // half of what a server takes in one request, unless it is set otherwise
const LINE_END = 10;

/** A file of lines in pieces of whole lines; one longer than a piece goes with all that is behind it. */
export async function* piecesOf(file: Blob, most = MOST_BYTES): AsyncGenerator<Blob> {
  for (let start = 0; start < file.size;) {
    const end = start + most < file.size ? await endOfLine(file, start, start + most) : file.size;
    yield file.slice(start, end);
    start = end;
  }
}

async function endOfLine(file: Blob, start: number, end: number): Promise<number> {
  const bytes = new Uint8Array(await file.slice(start, end).arrayBuffer());
  const last = bytes.lastIndexOf(LINE_END);
  return last < 0 ? file.size : start + last + 1;
}
