import { Button, Slider, Text } from '@mantine/core';
import { useState } from 'react';
import { dayInWords, mondayOf, type Span } from '@/shared/charts/weeks';
import classes from './Strip.module.css';

interface AsOfProps {
  span: Span;
  /** The day that is looked at; "" for now. */
  at: string;
  now: number;
  onChange: (at: string) => void;
}

/** Moves the page to what held on an earlier day, and says that this is not the present. */
export function AsOf({ span, at, now, onChange }: AsOfProps) {
  const today = new Date(now).toISOString().slice(0, 10);
  const days = Array.from({ length: span.bars }, (_, bar) => {
    const sunday = new Date(Date.parse(mondayOf(span.first + (bar + 1) * span.step)) - 1).toISOString().slice(0, 10);
    return sunday < today ? sunday : '';
  });
  const end = days.findIndex(day => day === ''); // the first bar that reaches to the present stands for it
  const last = end < 0 ? days.length - 1 : end;
  const found = at === '' ? last : days.findIndex(day => day >= at || day === '');
  const [moved, setMoved] = useState<{ from: string; to: number } | null>(null);
  const value = moved?.from === at ? moved.to : found < 0 ? last : found;
  const shown = value === found ? at : (days[value] ?? '');
  const words = shown ? dayInWords(shown, now) : 'now';
  return (
    <div className={classes.asOf}>
      <Text size="xs" fw={600} className={classes.asOfDay} aria-hidden>
        As of {words}
      </Text>
      <Slider
        className={classes.asOfSlider}
        size="sm"
        min={0}
        max={last}
        value={value}
        label={null}
        onChange={to => setMoved({ from: at, to })}
        onChangeEnd={to => onChange(days[to] ?? '')}
        thumbLabel="As of"
        thumbValueText={words}
      />
      {at !== '' && (
        <Button size="compact-xs" variant="default" onClick={() => onChange('')}>
          Back to now
        </Button>
      )}
      {at !== '' && (
        <Text size="xs" role="status" className={classes.past}>
          {at < today
            ? `You are looking at the past: what was known on ${dayInWords(at, now)}.`
            : `You are looking ahead: what of all that is known now still holds on ${dayInWords(at, now)}.`}{' '}
          Nothing can be changed here.
        </Text>
      )}
    </div>
  );
}
