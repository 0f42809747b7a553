import { Button, Tooltip } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Pieces } from '@/shared/components/Words';
import type { RunVariable } from '@/shared/data/runs/run';
import { hueOf } from './hues';
import classes from './NodePrompt.module.css';
import { cut, type Segment, segmentsOf } from './segments';

const MOST_SHOWN = 20_000; // characters, until all are asked for
const MOST_REACHED = 60; // variables that Tab stops at: a prompt of a thousand must not be a trap

interface FilledProps {
  text: string;
  variables: readonly RunVariable[];
  /** All of the prompt, in whose order they are coloured. */
  names: readonly string[];
}

/** A text with its variables marked; pointing at one or tabbing to it tells its name. */
export function Filled({ text, variables, names }: FilledProps) {
  const [isWhole, setWhole] = useState(false);
  const segments = useMemo(() => segmentsOf(text, variables), [text, variables]);
  const isCut = text.length > MOST_SHOWN && !isWhole;
  const shown = isCut ? cut(segments, MOST_SHOWN) : segments;
  const beyond = shown.flatMap((segment, at) => (segment.name === undefined ? [] : [at]))[MOST_REACHED];
  return (
    <>
      <div className={classes.text} dir="auto">
        {shown.map((segment, at) =>
          segment.name === undefined ? (
            <Pieces key={at} text={segment.text} />
          ) : (
            <Variable
              key={at}
              segment={{ ...segment, name: segment.name }}
              hue={hueOf(segment.name, names)}
              isReached={beyond === undefined || at < beyond}
            />
          ),
        )}
        {isCut && '…'}
      </div>
      {isCut && (
        <Button size="compact-xs" variant="default" mt="xs" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString()} characters
        </Button>
      )}
    </>
  );
}

interface VariableProps {
  segment: Segment & { name: string };
  hue: number;
  isReached: boolean;
}

function Variable({ segment, hue, isReached }: VariableProps) {
  return (
    <Tooltip label={`{${segment.name}}`} events={{ hover: true, focus: true, touch: true }} multiline maw="80vw">
      <span
        className={classes.variable}
        data-hue={hue}
        role="group"
        aria-label={`Variable ${segment.name}`}
        tabIndex={isReached ? 0 : undefined}
      >
        {segment.text ? <Pieces text={segment.text} /> : '∅'}
      </span>
    </Tooltip>
  );
}
