import type { Element, ElementContent, Root, RootContent } from 'hast';
import { codePoint, pieces } from '../../text/invisible';
import classes from '../Words.module.css';

/** A rehype plugin: marks in place of characters that nobody would see; code keeps them, for its block marks them. */
export function markInvisible() {
  return (tree: Root) => {
    tree.children = tree.children.flatMap(marked);
  };
}

function marked(node: RootContent): RootContent[] {
  if (node.type === 'element') {
    if (node.tagName !== 'pre') node.children = node.children.flatMap(child => marked(child) as ElementContent[]);
    return [node];
  }
  // HTML is still raw here; it is shown as text
  if (node.type !== 'text' && node.type !== 'raw') return [node];
  return pieces(node.value).map(piece =>
    'words' in piece ? { type: 'text', value: piece.words } : mark(piece.invisible),
  );
}

function mark(character: string): Element {
  const name = codePoint(character);
  const title = `${name}, a character that is not visible by itself`;
  return {
    type: 'element',
    tagName: 'span',
    properties: { className: [classes.mark ?? 'mark'], title },
    children: [{ type: 'text', value: name }],
  };
}
