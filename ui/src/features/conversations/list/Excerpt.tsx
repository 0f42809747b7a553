import { Pieces } from '@/shared/components/Words';
import { excerptOf } from './excerpt';
import classes from './List.module.css';

/** Where a text says what was looked for, marked. */
export function Excerpt({ text, query }: { text: string; query: string }) {
  return (
    <bdi className={classes.words}>
      {excerptOf(text, query).map((bit, at) =>
        bit.isMatch ? (
          <mark key={at} className={classes.match}>
            <Pieces text={bit.text} />
          </mark>
        ) : (
          <Pieces key={at} text={bit.text} />
        ),
      )}
    </bdi>
  );
}
