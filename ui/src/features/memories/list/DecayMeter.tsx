import { Progress, Text, Tooltip } from '@mantine/core';
import { timeAgo } from '@/shared/components/Time';
import type { ListedMemory } from '@/shared/data/memories/list';
import classes from './list.module.css';

interface DecayMeterProps {
  state: ListedMemory['state'];
  renewedAt: string;
  decaysAt: string | null;
  expiresOn?: string | null | undefined;
}

const COLOURS = {
  current: 'var(--accent)',
  fading: 'var(--second)',
  hidden: 'var(--part-working)',
  expired: 'var(--part-working)',
  deleted: 'var(--mantine-color-error)',
};
export const NAMES = {
  current: 'Current',
  fading: 'Fading',
  hidden: 'Hidden',
  expired: 'Expired',
  deleted: 'Deleted',
};

/** How much of its time a memory has left before it is hidden. */
export function DecayMeter({ state, renewedAt, decaysAt, expiresOn }: DecayMeterProps) {
  const said = sentenceOf(state, decaysAt, expiresOn);
  return (
    <Tooltip label={said}>
      <div className={classes.meter}>
        <Text size="xs" span>
          {NAMES[state]}
        </Text>
        {decaysAt !== null && (state === 'current' || state === 'fading') && (
          <Progress.Root size={4}>
            <Progress.Section value={leftOf(renewedAt, decaysAt)} color={COLOURS[state]} aria-label={said} />
          </Progress.Root>
        )}
      </div>
    </Tooltip>
  );
}

/** Percent of the time from the last renewal to the decay. */
export function leftOf(renewedAt: string, decaysAt: string, now: number = Date.now()): number {
  const [from, to] = [Date.parse(renewedAt), Date.parse(decaysAt)];
  if (!(to > from)) return 0;
  return Math.min(100, Math.max(0, ((to - now) / (to - from)) * 100));
}

export function sentenceOf(state: ListedMemory['state'], decaysAt: string | null, expiresOn?: string | null): string {
  if (state === 'deleted') return 'Deleted';
  if (state === 'expired') return `Expired after ${expiresOn ?? 'its last day'}`;
  if (decaysAt === null) return expiresOn ? `Expires after ${expiresOn}` : 'Does not decay';
  const when = timeAgo(new Date(decaysAt));
  return state === 'hidden' ? `Hidden: decayed ${when}` : `Decays ${when} unless it is renewed`;
}
