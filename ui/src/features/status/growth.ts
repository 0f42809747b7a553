import type { GrowthDay } from '@/shared/data/status';

export type Counted = Exclude<keyof GrowthDay, 'day'>;

/** Counts of one or two things a day. */
export interface Series {
  title: string;
  parts: readonly { member: Counted; name: string; color: string; token: string }[];
}

const FIRST = '--accent';
const SECOND = '--second';

export const SERIES: readonly Series[] = [
  {
    title: 'Memories a day',
    parts: [{ member: 'memories', name: 'Memories', color: `var(${FIRST})`, token: FIRST }],
  },
  {
    title: 'Messages a day',
    parts: [{ member: 'messages', name: 'Messages', color: `var(${FIRST})`, token: FIRST }],
  },
  {
    title: 'Model tokens a day',
    parts: [
      { member: 'input_tokens', name: 'In', color: `var(${FIRST})`, token: FIRST },
      { member: 'output_tokens', name: 'Out', color: `var(${SECOND})`, token: SECOND },
    ],
  },
];

/** The sum over all days; null while the server still counts. */
export function total(days: readonly GrowthDay[], member: Counted): number | null {
  return days.reduce<number | null>(
    (sum, { [member]: count }) => (sum === null || count === null ? null : sum + count),
    0,
  );
}
