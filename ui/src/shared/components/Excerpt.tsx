import { Fragment, type ReactNode } from 'react';
import { excerptOf, type Room } from '../text/excerpt';
import { Pieces } from './Words';

interface ExcerptProps {
  text: string;
  query: string;
  room: Room;
  className?: string | undefined;
  /** What stands around a word that was looked for. */
  mark: (word: ReactNode) => ReactNode;
}

/** Where a text says what was looked for, marked. */
export function Excerpt({ text, query, room, className, mark }: ExcerptProps) {
  return (
    <bdi className={className}>
      {excerptOf(text, query, room).map((bit, at) => (
        <Fragment key={at}>{bit.isMatch ? mark(<Pieces text={bit.text} />) : <Pieces text={bit.text} />}</Fragment>
      ))}
    </bdi>
  );
}
