import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { lintGutter, lintKeymap } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import type { JsonSchema } from 'json-schema-library';
import { useEffect, useEffectEvent, useMemo, useRef } from 'react';
import { assistance, knowledge, type Told } from './assist';
import { ConfigSchema } from './configSchema';
import { colours, look, nonce } from './look';
import { markPlace, placeMark } from './placeMark';
import { pathOf, stepsOf } from '../jsonSteps';
import { rangeOf, stepsTo, treeOf } from './jsonPlace';

interface JsonEditorProps {
  label: string;
  /** The text as it is stored. */
  original: string;
  /** The text to begin with, where it was changed before. */
  draft: string | undefined;
  schema: JsonSchema | undefined;
  names: ReadonlyMap<string, readonly string[]>;
  told: readonly Told[];
  /** The place to show, like `$[0].prompt`; "" for none. */
  place: string;
  onEdit: (text: string) => void;
  /** Called with the place that the user moves to. */
  onMove: (place: string) => void;
}

/** A JSON text to read and to change. */
export default function JsonEditor(props: JsonEditorProps) {
  const { label, original, draft, schema, names, told, place } = props;
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const known = useRef(new Compartment());
  const compiled = useMemo(() => schema && new ConfigSchema(schema), [schema]);
  const help = useMemo(
    () => knowledge.of({ schema: compiled, names, told, original }),
    [compiled, names, told, original],
  );
  const begin = useRef({ text: draft ?? original, help, label });
  const onEdit = useEffectEvent((text: string) => props.onEdit(text));
  const moves = useRef(new Set<string>()); // places that the cursor made known: it is there, or further on, by itself
  const onMove = useEffectEvent((moved: string) => {
    moves.current.add(moved);
    props.onMove(moved);
  });

  useEffect(() => {
    if (!box.current) return;
    const { text, help, label } = begin.current;
    const listener = EditorView.updateListener.of(update => {
      if (update.docChanged) onEdit(update.state.doc.toString());
      if (update.transactions.some(one => one.isUserEvent('select'))) onMove(placeOfCursor(update.state));
    });
    const made = new EditorView({
      parent: box.current,
      doc: text,
      extensions: [
        EditorView.cspNonce.of(nonce()),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        basics,
        assistance,
        known.current.of(help),
        listener,
      ],
    });
    view.current = made;
    return () => made.destroy();
  }, []);

  useEffect(() => {
    view.current?.dispatch({ effects: known.current.reconfigure(help) });
  }, [help]);

  // the file was changed on the server: what the user has changed here stays
  const isChanged = draft !== undefined;
  useEffect(() => {
    const { current } = view;
    if (!current || isChanged || current.state.doc.toString() === original) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: original } });
  }, [original, isChanged]);

  useEffect(() => {
    if (!view.current) return;
    const isOwn = moves.current.has(place);
    if (!isOwn) moves.current.clear();
    show(view.current, place, isOwn);
  }, [place]);

  return <div ref={box} className="cm-host" />;
}

function placeOfCursor(state: EditorState): string {
  return pathOf(stepsTo(treeOf(state).resolveInner(state.selection.main.head, 1), state.doc));
}

/** Mark a place, and bring it into sight unless it was found there. */
function show(view: EditorView, place: string, isOwn: boolean): void {
  const range = place ? rangeOf(view.state, stepsOf(place)) : null;
  const goes = range !== null && !isOwn;
  view.dispatch({
    effects: [
      markPlace.of(range),
      ...(goes ? [EditorView.scrollIntoView(range.from, { y: 'start', yMargin: 24 })] : []),
    ],
    ...(goes && { selection: { anchor: range.from } }),
  });
}

const basics = [
  lineNumbers(),
  foldGutter(),
  lintGutter(),
  history(),
  highlightSpecialChars(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  highlightActiveLine(),
  highlightSelectionMatches(),
  EditorView.lineWrapping,
  EditorState.tabSize.of(2),
  json(),
  look,
  colours,
  placeMark,
  keymap.of([
    ...closeBracketsKeymap,
    ...defaultKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...completionKeymap,
    ...lintKeymap,
  ]),
];
