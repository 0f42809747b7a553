/** The lines of the place that a graph, a list or a link points to. */
import { StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';

const MOST_LINES = 2000;
const line = Decoration.line({ class: 'cm-placeLine' });

export const markPlace = StateEffect.define<{ from: number; to: number } | null>();

export const placeMark = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, change) {
    const shifted = marks.map(change.changes);
    const asked = change.effects.find(effect => effect.is(markPlace));
    if (!asked) return shifted;
    const range = asked.value;
    if (!range) return Decoration.none;
    const { doc } = change.state;
    const first = doc.lineAt(range.from).number;
    const last = Math.min(doc.lineAt(range.to).number, first + MOST_LINES);
    const lines = Array.from({ length: last - first + 1 }, (_, at) => line.range(doc.line(first + at).from));
    return Decoration.set(lines);
  },
  provide: field => EditorView.decorations.from(field),
});
