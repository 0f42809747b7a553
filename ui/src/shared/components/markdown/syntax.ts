import type { CompileContext, Extension, Token } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import type { Extension as Syntax } from 'micromark-util-types';
import type { Processor } from 'unified';
import { formulaSyntax, texOf } from './formulas';

/**
 * A remark plugin: the Markdown of GitHub, and formulas as `code` elements of the class `formula` or `formula-display`.
 * remark-gfm would do the first, but it brings all that writes Markdown, too, 7 kB of what a chat loads first.
 */
export function syntax(this: Processor) {
  const data = this.data() as {
    micromarkExtensions?: Syntax[];
    fromMarkdownExtensions?: (Extension | Extension[])[];
  };
  (data.micromarkExtensions ??= []).push(gfm(), formulaSyntax);
  (data.fromMarkdownExtensions ??= []).push(gfmFromMarkdown(), {
    enter: { formula: enter },
    exit: { formula: exit },
  });
}

function enter(this: CompileContext, token: Token) {
  this.enter({ type: 'inlineCode', value: '' }, token);
}

function exit(this: CompileContext, token: Token) {
  const { tex, isDisplay } = texOf(this.sliceSerialize(token));
  const node = this.stack.at(-1);
  if (node?.type === 'inlineCode') {
    node.value = tex;
    node.data = {
      hProperties: { className: [isDisplay ? 'formula-display' : 'formula'] },
      hChildren: [{ type: 'text', value: tex }], // as code its line ends would become spaces
    };
  }
  this.exit(token);
}
