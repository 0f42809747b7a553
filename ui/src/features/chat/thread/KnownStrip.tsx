import { Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { barsOf, GROUPS, heightsOf, newInWeekOf, spanOf } from '@/shared/charts/weeks';
import { type Timeline, useTimeline } from '@/shared/data/memories/timeline';
import { useScope } from '@/shared/data/scope';
import classes from './KnownStrip.module.css';

const MOST_BARS = 104; // two years of weeks
const LEAST_WIDE = 26; // bars: fewer stand at the right
const ALL = { kind: '', origin: '', hidden: 'without', at: '' } as const;

/** What is known of the user, as a sentence that leads there, over a small picture of when it was learned. */
export default function KnownStrip() {
  const [now] = useState(() => Date.now());
  const { data } = useTimeline(useScope(), ALL);
  if (!data) return <div className={classes.strip} />; // a greeting fails without a word
  if (data.total === 0) return null;
  return (
    <Link to="/memories" className={classes.strip}>
      <Text size="xs" component="span" className={classes.told}>
        {inWords(data, now)}
      </Text>
      <Weeks timeline={data} now={now} />
    </Link>
  );
}

function Weeks({ timeline, now }: { timeline: Timeline; now: number }) {
  const span = spanOf(timeline, now, MOST_BARS);
  if (!span) return null;
  const bars = barsOf(timeline, span);
  const heights = heightsOf(bars);
  const sumsBelow = (group: number, at: number) =>
    heights.slice(0, group).reduce((sum, parts) => sum + (parts[at] ?? 0), 0);
  const top = Math.max(...bars.map((_, at) => sumsBelow(GROUPS.length, at)));
  const wide = Math.max(LEAST_WIDE, bars.length);
  return (
    <svg
      className={classes.weeks}
      viewBox={`${bars.length - wide} 0 ${wide} ${top || 1}`}
      preserveAspectRatio="none"
      aria-hidden
    >
      {GROUPS.map((group, place) => (
        <path
          key={group}
          fill={`var(--origin-${group})`}
          d={(heights[place] ?? [])
            .map((height, at) => (height ? `M${at + 0.1} ${top - sumsBelow(place, at)}h.8v${-height}h-.8z` : ''))
            .join('')}
        />
      ))}
    </svg>
  );
}

function inWords(timeline: Timeline, now: number): string {
  const { total } = timeline;
  const news = newInWeekOf(timeline, now);
  const known = `${total.toLocaleString()} ${total === 1 ? 'thing' : 'things'} known`;
  return news ? `${known}, ${news.toLocaleString()} new this week` : known;
}
