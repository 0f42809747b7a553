import type { MantineColorsTuple } from '@mantine/core';

/*
 * Every colour, size of type, corner and pace of the pages. They are variables of CSS there, so that a page follows the
 * scheme by itself; no other file names a colour (tokens.test.ts).
 */

/** The accent, from its faintest tint to its darkest words. */
export const pine: MantineColorsTuple = [
  '#e9f8f5',
  '#d5ede8',
  '#a8dbd1',
  '#78c8b9',
  '#52b8a5',
  '#2a9c89',
  '#14806f',
  '#0b6b5e',
  '#0b5d52',
  '#034f45',
];

/** The greys of the light scheme, a trace of the accent in each. */
export const gray: MantineColorsTuple = [
  '#f7f9f9',
  '#eff3f3',
  '#e5eaea',
  '#d5dcdc',
  '#c1cbcb',
  '#a5b0b1',
  '#7a8688',
  '#525e61',
  '#353f42',
  '#1e2528',
];

/** The greys of the dark scheme, of the same family: words, lines, fields, and the ground. */
export const dark: MantineColorsTuple = [
  '#d6dadc',
  '#b7c0c4',
  '#96a2a7',
  '#78858a',
  '#3a4448',
  '#30393d',
  '#262d30',
  '#15191b',
  '#101415',
  '#0b0e0f',
];

/** Each by its use, in the light scheme and in the dark one. */
export const COLOURS: Record<string, readonly [light: string, dark: string]> = {
  // grounds and lines: the shell around a page, its cards (the library's body), what is quiet on a card
  '--surface-shell': ['#e7ebeb', '#232b2e'],
  '--mantine-color-body': ['#ffffff', '#15191b'],
  '--surface-quiet': ['#f3f6f6', '#1e2427'],
  '--border-quiet': ['#d5dcdc', '#3a4448'],
  '--border-strong': ['#b4bfbf', '#566267'],

  // words, at least 4.5:1 on each of these grounds
  '--mantine-color-text': ['#14181a', '#d6dadc'],
  '--mantine-color-dimmed': ['#545c64', '#a9b1b8'],
  '--mantine-color-placeholder': ['#626a72', '#9aa2aa'],
  '--mantine-color-error': ['#c02525', '#ff8787'],
  '--mantine-color-anchor': ['#0b6b5e', '#6fd0bf'],
  '--mantine-color-disabled': ['#f3f6f6', '#1e2427'],
  '--mantine-color-disabled-color': ['#868f96', '#78858a'],
  '--mantine-color-disabled-border': ['#c1cbcb', '#4a5559'],
  '--mantine-color-red-text': ['#c02525', '#ff8787'],
  '--mantine-color-red-6': ['#c02525', '#ff8787'], // of what a menu has to delete
  '--mantine-color-red-filled': ['#c02525', '#c02525'],
  '--mantine-color-red-filled-hover': ['#a61e1e', '#a61e1e'],
  '--caution': ['#8a5a00', '#e3b341'],
  '--accent': ['#0b6b5e', '#52b8a5'],
  '--accent-tint': ['#e9f8f5', '#16302c'],
  '--on-accent': ['#ffffff', '#ffffff'],
  '--second': ['#a14a00', '#ffb066'],

  // words on their own colour's tint: the library's darkest shades of bright colours stay below 4.5:1 on its tints, and
  // its tints of the dark scheme are of no family
  '--mantine-color-pine-light': ['#d5ede8', '#16302c'],
  '--mantine-color-pine-light-hover': ['#c4e5de', '#1c3d37'],
  '--mantine-color-pine-light-color': ['#034f45', '#e9f8f5'],
  '--mantine-color-gray-light': ['#eff3f3', '#262d30'],
  '--mantine-color-gray-light-hover': ['#e5eaea', '#30393d'],
  '--mantine-color-gray-light-color': ['#1e2528', '#f7f9f9'],
  '--mantine-color-red-light': ['#fde2e2', '#4b1b1b'],
  '--mantine-color-red-light-color': ['#a61e1e', '#ffa3a3'],
  '--mantine-color-red-light-hover': ['#fde2e2', '#4b1b1b'],
  '--mantine-color-yellow-light': ['#fff3bf', '#43340a'],
  '--mantine-color-yellow-light-color': ['#734600', '#ffd43b'],
  '--mantine-color-orange-light': ['#ffead6', '#4a2a0d'],
  '--mantine-color-orange-light-color': ['#8a3305', '#ffb066'],
  '--mantine-color-lime-light': ['#eef3cf', '#353d0c'],
  '--mantine-color-lime-light-color': ['#41600a', '#c8d86a'],
  '--mantine-color-green-light': ['#d9f5e4', '#13432a'],
  '--mantine-color-green-light-color': ['#1a662a', '#9be29b'],
  '--mantine-color-teal-light': ['#d8f0eb', '#163d37'],
  '--mantine-color-teal-light-color': ['#056046', '#6fd0bf'],
  '--mantine-color-blue-light': ['#dcecfb', '#12304b'],
  '--mantine-color-blue-light-color': ['#1b529f', '#9cc7ff'],

  // #4caf50 is the sign's by the memory API; on white it has a contrast of 2.8, on this ground 4.3
  '--indicator': ['#4caf50', '#4caf50'],
  '--indicator-ground': ['#0b3d36', '#0b3d36'],

  // found, put in, taken out
  '--mark': ['#ffe08a', '#574300'],
  '--added': ['#d9f5e4', '#13432a'],
  '--added-strong': ['#b7e1c3', '#1f5c35'],
  '--added-words': ['#0d5230', '#b2f2cf'],
  '--removed': ['#fde2e2', '#4b1b1b'],
  '--removed-strong': ['#fad4cf', '#6b2424'],
  '--removed-words': ['#8a1414', '#ffc9c9'],

  // code and JSON, at least 4.5:1 on the ground of code blocks
  '--code-comment': ['#5c646c', '#a3abb2'],
  '--code-keyword': ['#9c1f63', '#ff9ecb'],
  '--code-string': ['#1d662c', '#9be29b'],
  '--code-number': ['#854700', '#f2c078'],
  '--code-name': ['#1b529f', '#9cc7ff'],
  '--code-type': ['#683a9e', '#cdb4ff'],
  '--code-member': ['#0b6156', '#7fdcc8'],
  '--code-line': ['#00000008', '#ffffff0a'],
  '--code-place': ['#0b6b5e14', '#2a9c8926'],
  '--code-selection': ['#b9e0d8', '#14544a'],

  // six things told apart: the variables of a prompt, who speaks
  '--hue-0': ['#0b7a6b', '#52b8a5'],
  '--hue-0-tint': ['#d8f0eb', '#163d37'],
  '--hue-1': ['#1864ab', '#74c0fc'],
  '--hue-1-tint': ['#dcecfb', '#12304b'],
  '--hue-2': ['#a14a00', '#ffb066'],
  '--hue-2-tint': ['#ffead6', '#4a2a0d'],
  '--hue-3': ['#862e9c', '#da9ae8'],
  '--hue-3-tint': ['#f4e3f8', '#3d1d46'],
  '--hue-4': ['#5c6d00', '#c8d86a'],
  '--hue-4-tint': ['#eef3cf', '#353d0c'],
  '--hue-5': ['#a61e4d', '#faa2c1'],
  '--hue-5-tint': ['#fde2ea', '#4a1526'],

  // what a window holds
  '--state-kept': ['#12806f', '#12806f'],
  '--state-retained': ['#1c6bb0', '#1c6bb0'],
  '--state-retained-line': ['#4c94d0', '#4c94d0'],
  '--state-summary': ['#7a3fa8', '#7a3fa8'],
  '--state-summary-line': ['#a97bcb', '#a97bcb'],
  '--state-summarised': ['#ece2f4', '#3a2f44'],
  '--state-recalled': ['#b0590e', '#b0590e'],
  '--state-recalled-line': ['#d98a45', '#d98a45'],
  '--state-gone': ['#e6eaeb', '#33393c'],
  '--state-gone-line': ['#7d868d', '#7d868d'],

  // where memories come from: four greens, the darkest first
  '--origin-chat': ['#0b5d52', '#14806f'],
  '--origin-import': ['#2a9c89', '#52b8a5'],
  '--origin-app': ['#78c8b9', '#a8dbd1'],
  '--origin-hand': ['#a9cf54', '#d5e88a'],

  // what a run did with its time, and the lines of a workflow's graph
  '--part-workflow': ['#c9d2d3', '#4a5458'],
  '--part-waiting': ['#b9dfd8', '#2d5e56'],
  '--part-working': ['#83908f', '#78858a'],
  '--graph-line': ['#667274', '#8b989d'],
  '--graph-read': ['#7048b6', '#b69cf0'],
};

/** Four sizes: what is aside, what is read, what leads, and the title of a page. */
export const TYPE = { small: '0.75rem', text: '0.875rem', lead: '1rem', title: '1.375rem' };

/** Three corners: of marks in a text, of what one uses, of cards; `round` is for what has no corner. */
export const RADII = { mark: '0.25rem', control: '0.5rem', card: '0.75rem', round: '62.5rem' };

export const SPACING = { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2rem' };

/** How long it takes to follow a hand, and to show that something has arrived. */
export const MOTION = { '--motion-follow': '120ms', '--motion-arrive': '400ms' };
