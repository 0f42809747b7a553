import type { Element, ElementContent, RootContent } from 'hast';
import { common, createLowlight } from 'lowlight';
import { type ReactNode, useMemo } from 'react';
import classes from './HighlightedCode.module.css';
import { Pieces } from './Words';

const lowlight = createLowlight(common);

interface HighlightedCodeProps {
  text: string;
  language: string;
}

/** Code with its words coloured by what they are, if the language is known. Loaded when the first code is shown. */
export default function HighlightedCode({ text, language }: HighlightedCodeProps) {
  const tree = useMemo(
    () => (lowlight.registered(language) ? lowlight.highlight(language, text) : null),
    [text, language],
  );
  return tree ? <span className={classes.code}>{tree.children.map(shown)}</span> : <Pieces text={text} />;
}

function shown(node: RootContent | ElementContent, at: number): ReactNode {
  if (node.type === 'text') return <Pieces key={at} text={node.value} />;
  if (node.type !== 'element') return null;
  return (
    <span key={at} className={classOf(node)}>
      {node.children.map(shown)}
    </span>
  );
}

function classOf({ properties }: Element): string {
  return Array.isArray(properties.className) ? properties.className.join(' ') : '';
}
