import { Anchor, Code } from '@mantine/core';
import { lazy, memo, Suspense } from 'react';
import { TbPhoto } from 'react-icons/tb';
import ReactMarkdown, { type Components, defaultUrlTransform } from 'react-markdown';
import { CodeBlock } from '../CodeBlock';
import { codeOf } from '../codeOf';
import classes from './Markdown.module.css';
import { markInvisible } from './markInvisible';
import { syntax } from './syntax';
import { Words } from '../Words';

const Formula = lazy(() => import('./Formula'));

const MOST_PARSED = 200_000; // characters; what is longer is shown as plain words

const components: Components = {
  a: ({ href, children }) =>
    href ? (
      <Anchor href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
        {children}
      </Anchor>
    ) : (
      <span>{children}</span>
    ),
  img: ({ src, alt }) => <PictureElsewhere source={typeof src === 'string' ? src : ''} description={alt ?? ''} />,
  pre: ({ node }) => <CodeBlock {...codeOf(node)} />,
  code: ({ className = '', children }) =>
    className.startsWith('formula') && typeof children === 'string' ? (
      <TexFormula tex={children} isDisplay={className === 'formula-display'} />
    ) : (
      <Code>{children}</Code>
    ),
  table: ({ children }) => (
    <div className={`${classes.wide ?? ''} sideways`} tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
};

/**
 * Text of a model or a person as Markdown: no raw HTML, only links of safe schemes, pictures from elsewhere only as
 * links, invisible characters shown, formulas of TeX set as MathML.
 */
export const Markdown = memo(function Markdown({ children: text }: { children: string }) {
  if (text.length > MOST_PARSED) return <Words>{text}</Words>;
  return (
    <div className={classes.markdown} dir="auto">
      <ReactMarkdown
        remarkPlugins={[syntax]}
        rehypePlugins={[markInvisible]}
        components={components}
        urlTransform={defaultUrlTransform}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
});

/** Its source while the program that reads it is loaded, and for good when that cannot read it. */
function TexFormula({ tex, isDisplay }: { tex: string; isDisplay: boolean }) {
  const source = <Code>{tex}</Code>;
  const formula = (
    <Suspense fallback={source}>
      <Formula tex={tex} isDisplay={isDisplay} fallback={source} />
    </Suspense>
  );
  if (!isDisplay) return formula;
  return (
    <span className={`${classes.display ?? ''} sideways`} tabIndex={0} role="region" aria-label="Formula">
      {formula}
    </span>
  );
}

/** Loading it would tell another host that somebody reads this: it is opened by a click, in a tab of its own. */
function PictureElsewhere({ source, description }: { source: string; description: string }) {
  const host = hostOf(source);
  if (!host) return <span className={classes.picture}>{description || 'Picture'}</span>;
  return (
    <Anchor
      className={classes.picture}
      href={source}
      target="_blank"
      rel="noopener noreferrer nofollow"
      title={source}
    >
      <TbPhoto aria-hidden /> {description || 'Picture'} (open from {host})
    </Anchor>
  );
}

function hostOf(source: string): string {
  try {
    const url = new URL(source);
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.host : '';
  } catch {
    return '';
  }
}
