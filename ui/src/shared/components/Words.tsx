import { Button } from '@mantine/core';
import { useState } from 'react';
import { codePoint, pieces } from '../text/invisible';
import classes from './Words.module.css';

const MOST_SHOWN = 20_000;

interface WordsProps {
  children: string;
  /** Longer texts are cut, with a button for the rest. In characters. */
  limit?: number;
}

/** Text that somebody wrote, as it is: never markup, its direction kept to itself, its invisible characters shown. */
export function Words({ children: text, limit = MOST_SHOWN }: WordsProps) {
  const [isWhole, setWhole] = useState(false);
  const isCut = text.length > limit && !isWhole;
  return (
    <>
      <bdi className={classes.words}>
        <Pieces text={isCut ? text.slice(0, limit) : text} />
        {isCut && '…'}
      </bdi>
      {isCut && (
        <Button size="compact-xs" variant="default" ml="xs" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString()} characters
        </Button>
      )}
    </>
  );
}

export function Pieces({ text }: { text: string }) {
  return pieces(text).map((piece, at) =>
    'words' in piece ? piece.words : <InvisibleMark key={at} character={piece.invisible} />,
  );
}

export function InvisibleMark({ character }: { character: string }) {
  const name = codePoint(character);
  return (
    <span className={classes.mark} title={`${name}, a character that is not visible by itself`}>
      {name}
    </span>
  );
}
