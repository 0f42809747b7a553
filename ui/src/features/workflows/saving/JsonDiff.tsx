import { json } from '@codemirror/lang-json';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { colours, look, nonce } from '../editor/look';

interface JsonDiffProps {
  label: string;
  before: string;
  after: string;
}

/** What the second text has and the first has not, line by line; long equal parts are folded. */
export default function JsonDiff({ label, before, after }: JsonDiffProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!box.current) return;
    const view = new EditorView({
      parent: box.current,
      doc: after,
      extensions: [
        EditorView.cspNonce.of(nonce()),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
        EditorView.lineWrapping,
        lineNumbers(),
        json(),
        look,
        colours,
        changes,
        unifiedMergeView({
          original: before,
          mergeControls: false,
          gutter: true,
          collapseUnchanged: { margin: 3, minSize: 6 },
        }),
      ],
    });
    return () => view.destroy();
  }, [label, before, after]);
  return <div ref={box} className="cm-host" />;
}

const changes = EditorView.theme({
  '.cm-changedLine': { backgroundColor: 'var(--added)' },
  '.cm-deletedChunk': { backgroundColor: 'var(--removed)' },
  '&.cm-merge-b .cm-changedText, .cm-changedText': { background: 'var(--added-strong)' },
  '.cm-deletedChunk .cm-deletedText': { background: 'var(--removed-strong)' },
  '.cm-collapsedLines': {
    background: 'var(--surface-quiet)',
    color: 'var(--mantine-color-dimmed)',
    padding: '0.15rem 0.75rem',
  },
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"⋯"' }, // fonts lack the sign it comes with
});
