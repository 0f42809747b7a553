import { Button, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { lazy, Suspense, useMemo, useState } from 'react';
import { TbClock } from 'react-icons/tb';
import { messageOf, RetryButton } from '@/shared/components/states';
import { type Timeline, useTimeline } from '@/shared/data/memories/timeline';
import type { Scope } from '@/shared/data/scope';
import { instantAt, type Place } from '../place';
import { AsOf } from './AsOf';
import { barsInWords, barsOf, GROUPS, mondayOf, newInWeekOf, rangeOf, spanOf } from '@/shared/charts/weeks';
import { Brush } from './Brush';
import classes from './Strip.module.css';

const Picture = lazy(() => import('./Picture'));

const NAMES = { chat: 'Chat', import: 'Import', app: 'App', hand: 'By hand' };
const BAR_PX = 5;

interface StripProps {
  place: Place;
  owner: Scope;
  go: (changes: Partial<Place>, how?: { replace?: boolean }) => void;
}

/** When what is known was learned: a bar a week by where it comes from, of which some can be chosen for the list. */
export default function Strip({ place, owner, go }: StripProps) {
  const [now] = useState(() => Date.now());
  const [isLookingBack, setLookingBack] = useState(place.at !== '');
  const { ref, width } = useElementSize();
  const counted = { kind: place.kind, origin: place.origin, hidden: place.hidden };
  const known = useTimeline(owner, { ...counted, at: '' });
  const then = useTimeline(owner, { ...counted, at: instantAt(place.at) });
  const span = useMemo(
    () => (known.data && width > 0 ? spanOf(known.data, now, Math.max(8, Math.floor(width / BAR_PX))) : null),
    [known.data, now, width],
  );
  const bars = useMemo(() => (span && then.data ? barsOf(then.data, span) : []), [span, then.data]);
  const chosen = rangeOf(bars, place.from, place.until);
  const failed = known.error ?? then.error;
  if (failed)
    return (
      <div className={classes.failed} role="status">
        <Text size="xs" c="dimmed">
          The timeline could not be loaded: {messageOf(failed)}
        </Text>
        <RetryButton size="compact-xs" onRetry={() => void Promise.all([known.refetch(), then.refetch()])} />
      </div>
    );
  if (known.data?.weeks.length === 0) return null;
  const choose = (range: readonly [number, number] | null) => {
    const [first, last] = range ? [bars[range[0]], bars[range[1]]] : [];
    const isWhole = range?.[0] === 0 && range[1] === bars.length - 1;
    if (!first || !last || isWhole) go({ from: '', until: '' }, { replace: true });
    else {
      const bounds = {
        from: range?.[0] ? mondayOf(first.first) : '',
        until: last.isLater ? '' : mondayOf(last.last + 1),
      };
      go({ ...bounds, age: '' }, { replace: chosen !== null });
    }
  };
  return (
    <>
      <section className={classes.strip} aria-label="When it was learned">
        <div className={classes.head}>
          <Text size="xs" c="dimmed" className={classes.told}>
            {chosen ? barsInWords(bars.slice(chosen[0], chosen[1] + 1), now) : toldOf(then.data, now)}
          </Text>
          {chosen && (
            <Button size="compact-xs" variant="subtle" onClick={() => choose(null)}>
              All weeks
            </Button>
          )}
          <span className={classes.legend} aria-hidden>
            {GROUPS.map(group => (
              <span key={group} className={classes.key}>
                <span className={classes.swatch} style={{ background: `var(--origin-${group})` }} />
                {NAMES[group]}
              </span>
            ))}
          </span>
          <Button
            size="compact-xs"
            variant={isLookingBack ? 'light' : 'subtle'}
            leftSection={<TbClock size={14} aria-hidden />}
            aria-expanded={isLookingBack}
            onClick={() => {
              setLookingBack(!isLookingBack);
              if (isLookingBack) go({ at: '' });
            }}
          >
            Look back
          </Button>
        </div>
        <div ref={ref} className={classes.picture}>
          {bars.length > 0 && (
            <>
              <Suspense>
                <Picture bars={bars} most={Math.floor(width / 64)} />
              </Suspense>
              <Brush bars={bars} chosen={chosen} now={now} onChoose={choose} />
            </>
          )}
        </div>
      </section>
      {isLookingBack && span && (
        <AsOf span={span} at={place.at} now={now} onChange={at => go({ at, id: '' }, { replace: place.at !== '' })} />
      )}
    </>
  );
}

/** What there is in all, and of it in this week. */
function toldOf(timeline: Timeline | undefined, now: number): string {
  if (!timeline) return '';
  const news = newInWeekOf(timeline, now);
  const fresh = news ? `, ${news.toLocaleString()} new this week` : '';
  const undated = timeline.undated ? `, ${timeline.undated.toLocaleString()} without a date` : '';
  return `${timeline.total.toLocaleString()} known${fresh}${undated}`;
}
