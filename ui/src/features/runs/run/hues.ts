export const HUES = 6;

/** Which of the colours a variable has: by its place among the names of the prompt. */
export function hueOf(name: string, names: readonly string[]): number {
  return Math.max(names.indexOf(name), 0) % HUES;
}
