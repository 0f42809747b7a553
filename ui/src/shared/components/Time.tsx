import { Tooltip } from '@mantine/core';
import { usePointed } from '../hooks/usePointed';

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

const DELAY_MS = 400;

interface TimeProps {
  /** RFC 3339 */
  value: string;
  /** "3 minutes ago" in place of date and time. */
  ago?: boolean;
}

/** A time as the reader's locale writes it; the exact one in the tooltip. */
export function Time({ value, ago = false }: TimeProps) {
  const { isPointed, ...pointed } = usePointed<HTMLTimeElement>(DELAY_MS);
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return <span>{value}</span>;
  return (
    <>
      <time dateTime={value} {...pointed}>
        {ago ? timeAgo(date) : full.format(date)}
      </time>
      {isPointed && (
        <Tooltip target={pointed.ref} label={ago ? full.format(date) : value} openDelay={DELAY_MS} defaultOpened />
      )}
    </>
  );
}

export function timeAgo(date: Date, now: number = Date.now()): string {
  const seconds = (date.getTime() - now) / 1000;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);
  return relative.format(Math.trunc(seconds / size), unit);
}
