import { readdirSync, readFileSync } from 'node:fs';
import { luminance } from '@mantine/core';
import { COLOURS, MOTION, RADII, TYPE } from './tokens';

const WORDS = [
  '--mantine-color-text',
  '--mantine-color-dimmed',
  '--mantine-color-placeholder',
  '--mantine-color-error',
  '--mantine-color-anchor',
  '--caution',
  '--accent',
];
const SURFACES = ['--surface-shell', '--mantine-color-body', '--surface-quiet'];
const CODE = Object.keys(COLOURS).filter(name => /^--code-(?!line|place|selection)/.test(name));
const TINTS = Object.keys(COLOURS).filter(name => /^--mantine-color-[a-z]+-light$/.test(name));
const JSON_CODE = ['--code-member', '--code-string', '--code-number'];
const CHANGED = ['--added', '--added-strong', '--removed', '--removed-strong'];
const SCHEMES = { light: 0, dark: 1 } as const;

/** All that draws, as text by its path: what has no colour, size of type or corner of its own but the tokens. */
const drawing = new Map(
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter(path => /\.(css|tsx?)$/.test(path) && !/(\.test\.tsx?|tokens\.ts|schema\.d\.ts)$/.test(path))
    .map(path => [path, readFileSync(`src/${path}`, 'utf8')]),
);

function ratio(one = '', other = ''): number {
  const [less = 0, more = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (more + 0.05) / (less + 0.05);
}

describe.each(Object.entries(SCHEMES))('in the %s scheme', (_, at) => {
  const colour = (name: string) => COLOURS[name]?.[at];

  it('a page stands out from the shell', () => {
    expect(ratio(colour('--mantine-color-body'), colour('--surface-shell'))).toBeGreaterThanOrEqual(1.2);
  });

  it.each(CODE)('%s can be read where code is', words => {
    const grounds = ['--surface-quiet', ...(JSON_CODE.includes(words) ? CHANGED : [])];
    for (const ground of grounds) expect(ratio(colour(words), colour(ground))).toBeGreaterThanOrEqual(4.5);
  });

  it.each(TINTS)('words of its own colour can be read on %s', tint => {
    expect(ratio(colour(`${tint}-color`), colour(tint))).toBeGreaterThanOrEqual(4.5);
    expect(ratio(colour(`${tint}-color`), colour('--surface-quiet'))).toBeGreaterThanOrEqual(4.5); // of a warning
  });

  it.each(WORDS)('%s can be read on every surface', words => {
    for (const surface of SURFACES) expect(ratio(colour(words), colour(surface))).toBeGreaterThanOrEqual(4.5);
  });
});

/** `file: what stands there` for all that `pattern` finds and `allowed` does not know. */
function strays(pattern: RegExp, allowed = /^$/): string[] {
  return [...drawing].flatMap(([file, text]) =>
    [...text.matchAll(pattern)]
      .filter(found => !allowed.test((found[1] ?? found[0]).trim()))
      .map(found => `${file}: ${found[0]}`),
  );
}

test('the sign of memory is as green as the memory API says', () => {
  expect(COLOURS['--indicator']).toEqual(['#4caf50', '#4caf50']);
});

test('what frames the page has the colour of its shell', () => {
  const page = readFileSync('index.html', 'utf8');
  const manifest = readFileSync('public/manifest.webmanifest', 'utf8');
  const { theme_color, background_color } = JSON.parse(manifest) as Record<string, string>;
  const named = [...page.matchAll(/name="theme-color" content="([^"]+)" media="\(prefers-color-scheme: (\w+)\)"/g)];
  const [light, dark] = COLOURS['--surface-shell'] ?? [];
  expect(named.map(([, colour, scheme]) => [scheme, colour])).toEqual([
    ['light', light],
    ['dark', dark],
  ]);
  expect([theme_color, background_color]).toEqual([light, light]);
});

test('there is something that draws', () => {
  expect(drawing.size).toBeGreaterThan(300);
  expect([...drawing.values()].join('')).toContain('var(--type-small)');
});

test('no file but the tokens names a colour', () => {
  expect(strays(/#(?:[\da-f]{8}|[\da-f]{6}|[\da-f]{3,4})\b(?!['"]?>)/gi)).toEqual([]);
  expect(strays(/\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color|color-mix|light-dark)\([^)]/g)).toEqual([]);
  expect(strays(/--mantine-color-[a-z]+-\d\b/g)).toEqual([]);
  expect(strays(/['"][a-z]+\.\d['"]/g)).toEqual([]); // a shade of the library's
});

test('every variable that is used is given', () => {
  const all = [...drawing.values()].join('\n');
  const given = new Set([
    ...Object.keys(COLOURS),
    ...Object.keys(MOTION),
    ...Object.keys(TYPE).map(name => `--type-${name}`),
    ...Object.keys(RADII).map(name => `--radius-${name}`),
    ...[...all.matchAll(/(--[\w-]+)['"`]?\]?:/g)].map(([, name]) => name),
  ]);
  const used = [...all.matchAll(/var\((--[\w-]+)(?![\w-]*\$\{)/g)].map(([, name = '']) => name);
  expect(used.length).toBeGreaterThan(300);
  expect(used.filter(name => !given.has(name) && !/^--(mantine|xy|alert|radio)-/.test(name))).toEqual([]);
});

test('no file but the tokens chooses a size of type', () => {
  const known = /^(var\(--type-[a-z]+\)|inherit)$/;
  expect(strays(/font-size:([^;}]+)/g, known)).toEqual([]);
  expect(strays(/fontSize: ['"`]([^'"`]+)/g, known)).toEqual([]);
  expect(strays(/\bfz=(?:"([^"]+)"|\{[^}]+\})/g, /^(xs|sm|md)$/)).toEqual([]);
});

test('no file but the tokens chooses a corner', () => {
  const corner = String.raw`(?:var\(--radius-[a-z]+\)|0|50%|inherit)`; // half of a square is a circle
  const known = new RegExp(`^${corner}(?: ${corner})*$`);
  expect(strays(/border(?:-[a-z]+)*-radius:([^;}]+)/g, known)).toEqual([]);
  expect(strays(/border\w*Radius: ['"`]([^'"`]+)/g, known)).toEqual([]);
  expect(strays(/\bradius=(?:"([^"]+)"|\{[^}]+\})/g, /^(sm|md|lg|xl)$/)).toEqual([]);
});
