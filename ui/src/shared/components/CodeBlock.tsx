import { lazy, Suspense } from 'react';
import { CopyButton } from './CopyButton';
import classes from './CodeBlock.module.css';
import { Pieces } from './Words';

const HighlightedCode = lazy(() => import('./HighlightedCode'));
const MOST_HIGHLIGHTED = 50_000; // characters

interface CodeBlockProps {
  text: string;
  language?: string;
  /** Long lines go on below, where that changes nothing: in a command for a shell. */
  isWrapped?: boolean;
}

/** Code with its language and a button that copies it; scrolls by itself when it is wide. */
export function CodeBlock({ text, language = '', isWrapped = false }: CodeBlockProps) {
  return (
    <figure className={classes.block}>
      <figcaption className={classes.caption}>
        <span>{language || 'text'}</span>
        <CopyButton text={text} label="Copy code" />
      </figcaption>
      {/* a region that scrolls must be reachable by keyboard */}
      <pre
        className={`${classes.code ?? ''} sideways`}
        data-wrapped={isWrapped || undefined}
        tabIndex={0}
        aria-label={`Code, ${language || 'text'}`}
        role="region"
      >
        <code>
          {language && text.length <= MOST_HIGHLIGHTED ? (
            <Suspense fallback={<Pieces text={text} />}>
              <HighlightedCode text={text} language={language.toLowerCase()} />
            </Suspense>
          ) : (
            <Pieces text={text} />
          )}
        </code>
      </pre>
    </figure>
  );
}
