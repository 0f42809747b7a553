/** Where the steps of a place are in a text, sound or not, and what is said there. */
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState, Text } from '@codemirror/state';
import type { SyntaxNode, Tree } from '@lezer/common';
import type { Step } from '../jsonSteps';

const PATIENCE_MS = 200;

/** The whole text parsed, also what is far below what is in sight; of a huge one as far as it goes. */
export function treeOf(state: EditorState): Tree {
  return ensureSyntaxTree(state, state.doc.length, PATIENCE_MS) ?? syntaxTree(state);
}

/** Where the value at these steps is, or the innermost one around it that there is. */
export function rangeOf(state: EditorState, steps: readonly Step[]): { from: number; to: number } {
  let node = valueIn(treeOf(state).topNode);
  for (const step of steps) {
    const next = node && memberOf(node, step, state.doc);
    if (!next) break;
    node = next;
  }
  return node ? { from: node.from, to: node.to } : { from: 0, to: 0 };
}

/** The steps that lead to what is at `node`. */
export function stepsTo(node: SyntaxNode, doc: Text): Step[] {
  const steps: Step[] = [];
  for (let at: SyntaxNode | null = node; at; at = at.parent) {
    const start = at.from;
    if (at.name === 'Property') steps.unshift(nameOf(at, doc));
    else if (at.parent?.name === 'Array' && isValue(at))
      steps.unshift(valuesIn(at.parent).findIndex(value => value.from === start));
  }
  return steps;
}

/** What the text says as far as it can be read; what is missing is null. */
export function dataOf(state: EditorState): unknown {
  const top = valueIn(treeOf(state).topNode);
  return top ? valueOf(top, state.doc) : null;
}

export function propertiesOf(object: SyntaxNode): SyntaxNode[] {
  return object.getChildren('Property');
}

export function nameOf(property: SyntaxNode, doc: Text): string {
  const name = property.getChild('PropertyName');
  return name ? textOf(name, doc) : '';
}

export function isValue(node: SyntaxNode): boolean {
  return /^(Object|Array|String|Number|True|False|Null)$/.test(node.name);
}

function valueOf(node: SyntaxNode, doc: Text): unknown {
  if (node.name === 'Object')
    return Object.fromEntries(
      propertiesOf(node).map(property => {
        const value = valueIn(property);
        return [nameOf(property, doc), value ? valueOf(value, doc) : null];
      }),
    );
  if (node.name === 'Array') return valuesIn(node).map(value => valueOf(value, doc));
  if (node.name === 'String') return textOf(node, doc);
  try {
    return JSON.parse(doc.sliceString(node.from, node.to));
  } catch {
    return null;
  }
}

function memberOf(node: SyntaxNode, step: Step, doc: Text): SyntaxNode | undefined {
  if (node.name === 'Array') return valuesIn(node)[Number(step)];
  if (node.name !== 'Object') return undefined;
  const property = propertiesOf(node).find(candidate => nameOf(candidate, doc) === String(step));
  return property && (valueIn(property) ?? property);
}

function valueIn(node: SyntaxNode): SyntaxNode | undefined {
  return valuesIn(node)[0];
}

function valuesIn(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) if (isValue(child)) found.push(child);
  return found;
}

function textOf(node: SyntaxNode, doc: Text): string {
  const written = doc.sliceString(node.from, node.to);
  try {
    return String(JSON.parse(written));
  } catch {
    return written.replace(/^"|"$/g, '');
  }
}
