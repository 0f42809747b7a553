/** Places in JSON as the server writes them: `$.nodes[2].endpointName`. */
export type Step = string | number;

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/gy;
const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' };

/** The steps of a path; those up to the first that cannot be read. */
export function stepsOf(path: string): Step[] {
  const steps: Step[] = [];
  STEP.lastIndex = 1; // behind the $
  for (let found = STEP.exec(path); found; found = STEP.exec(path)) {
    const [, name, index, single, double] = found;
    steps.push(index !== undefined ? Number(index) : (name ?? unescaped(single ?? double ?? '')));
  }
  return steps;
}

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/gi,
    (_, x?: string, u?: string, U?: string, other?: string) => {
      const code = x ?? u ?? U;
      return code ? String.fromCodePoint(parseInt(code, 16)) : (ESCAPES[other ?? ''] ?? other ?? '');
    },
  );
}

/** Whether the place `inner` is `outer` or lies in it. */
export function isWithin(inner: readonly Step[], outer: readonly Step[]): boolean {
  return outer.every((step, at) => inner[at] === step);
}

/** The path of steps, as the server writes it. */
export function pathOf(steps: readonly Step[]): string {
  return steps.reduce<string>(
    (path, step) =>
      typeof step === 'number'
        ? `${path}[${step}]`
        : /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(step)
          ? `${path}.${step}`
          : `${path}[${JSON.stringify(step)}]`,
    '$',
  );
}
