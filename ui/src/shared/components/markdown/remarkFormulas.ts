import type { CompileContext, Extension, Token } from 'mdast-util-from-markdown';
import type { Extension as Syntax } from 'micromark-util-types';
import type { Processor } from 'unified';
import { formulaSyntax, texOf } from './formulas';

/** A remark plugin: formulas as `code` elements of the class `formula`, or `formula-display`. */
export function remarkFormulas(this: Processor) {
  const data = this.data() as { micromarkExtensions?: Syntax[]; fromMarkdownExtensions?: Extension[] };
  (data.micromarkExtensions ??= []).push(formulaSyntax);
  (data.fromMarkdownExtensions ??= []).push({ enter: { formula: enter }, exit: { formula: exit } });
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
