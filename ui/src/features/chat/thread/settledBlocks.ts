/**
 * A growing text in pieces that are done and one, the last, that still grows, so that each is laid out once. Pieces
 * end at blank lines outside of code fences.
 */
export function settledBlocks(text: string): string[] {
  const blocks: string[] = [];
  let begins = 0;
  let fence = '';
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    if (end < 0) break;
    const line = text.slice(at, Math.min(end, at + LONGEST_MARK)).trimStart();
    fence = fenceAfter(fence, line);
    at = end + 1;
    if (!fence && line === '' && beginsAnew(text.slice(at, at + LONGEST_MARK))) {
      blocks.push(text.slice(begins, at));
      begins = at;
    }
  }
  return [...blocks, text.slice(begins)];
}

const LONGEST_MARK = 16; // characters, of a fence or a number in front of an item
const ITEM = /^([-*+]|\d{1,9}[.)])(\s|$)|^\d{1,9}$/; // what is one, or may become one

/** Whether a line does not go on with what stands before a blank line: items of one list stay together. */
function beginsAnew(line: string): boolean {
  return /^\S/.test(line) && !ITEM.test(line);
}

function fenceAfter(open: string, line: string): string {
  const mark = /^(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
  if (!open) return mark;
  return mark.startsWith(open) ? '' : open;
}
