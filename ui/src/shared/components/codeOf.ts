import type { Element, ElementContent } from 'hast';

/** Language and text of the code within a `pre` element. */
export function codeOf(pre: Element | undefined): { language: string; text: string } {
  const code = pre?.children.find(child => child.type === 'element' && child.tagName === 'code');
  const classes = code?.type === 'element' ? code.properties.className : undefined;
  const named = Array.isArray(classes) ? classes.map(String).find(name => name.startsWith('language-')) : undefined;
  return { language: named?.slice('language-'.length) ?? '', text: textOf(code).replace(/\n$/, '') };
}

function textOf(node: ElementContent | undefined): string {
  if (!node) return '';
  if (node.type === 'text') return node.value;
  return node.type === 'element' ? node.children.map(textOf).join('') : '';
}
