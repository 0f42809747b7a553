import katex, { type KatexOptions } from 'katex';
import { createElement, type ReactNode } from 'react';
import classes from './Formula.module.css';

/** A node of what KaTeX makes: an element of MathML, a piece of text, or a space, or a wrapper around others. */
interface Drawn {
  type?: string;
  text?: string;
  attributes?: Record<string, string>;
  /** Of a space, in em; it has no type. */
  width?: number;
  children?: Drawn[];
}

interface Engine {
  __renderToDomTree(tex: string, options: KatexOptions): Drawn;
}

const OPTIONS = {
  output: 'mathml',
  throwOnError: true,
  strict: 'ignore',
  trust: false,
  maxExpand: 500,
  maxSize: 20,
} as const;
const ATTRIBUTES = new Set(
  [
    'accent accentunder columnalign columnlines columnspacing depth display displaystyle encoding fence form height',
    'linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowlines',
    'rowspacing rspace scriptlevel separator stretchy symmetric voffset width xmlns',
  ].flatMap(names => names.split(' ')),
);

interface FormulaProps {
  tex: string;
  isDisplay: boolean;
  /** In place of a formula that cannot be read. */
  fallback: ReactNode;
}

/**
 * A formula of TeX as MathML, which the browser itself sets: no inline style, and nothing of what KaTeX makes reaches
 * the page but elements of MathML with known attributes. Loaded with the first formula, as is its font.
 */
export default function Formula({ tex, isDisplay, fallback }: FormulaProps) {
  const drawn = draw(tex, isDisplay);
  return drawn ? (
    <span dir="ltr" className={classes.formula}>
      {shown(drawn, 0)}
    </span>
  ) : (
    fallback
  );
}

function draw(tex: string, displayMode: boolean): Drawn | null {
  try {
    return (katex as unknown as Engine).__renderToDomTree(tex, { ...OPTIONS, displayMode });
  } catch {
    return null; // not TeX, or more than the limits let through: its source is shown
  }
}

function shown(node: Drawn, key: number): ReactNode {
  if (node.text !== undefined) return node.text;
  if (node.type === undefined && node.width !== undefined)
    return createElement('mspace', { key, width: `${node.width}em` });
  const children = (node.children ?? []).map(shown);
  if (!node.type || !/^(math|m[a-z]+|semantics|annotation)$/.test(node.type)) return children;
  const attributes = Object.entries(node.attributes ?? {}).filter(([name]) => ATTRIBUTES.has(name));
  return createElement(node.type, { key, ...Object.fromEntries(attributes) }, ...children);
}
