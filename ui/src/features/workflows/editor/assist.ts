/** Completion, explanations and checks in the editor, from the schema and from what there is in the tree. */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { jsonParseLinter } from '@codemirror/lang-json';
import { type Diagnostic, linter } from '@codemirror/lint';
import { type EditorState, type Extension, Facet } from '@codemirror/state';
import { type EditorView, hoverTooltip } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';
import { aboutOf, type ConfigSchema, shapeOf } from './configSchema';
import { type Step, stepsOf } from '../jsonSteps';
import { dataOf, nameOf, propertiesOf, rangeOf, stepsTo, treeOf } from './jsonPlace';

/** A problem that the server tells of this file. */
export interface Told {
  path: string;
  level: 'error' | 'warning';
  cause: string;
  fix: string;
}

export interface AssistOptions {
  schema: ConfigSchema | undefined;
  /** What the tree has to offer for a member, by its name. */
  names: ReadonlyMap<string, readonly string[]>;
  /** Problems of the file as it is stored: shown as long as the text is that. */
  told: readonly Told[];
  original: string;
}

const MOST_CHECKED = 500_000; // characters
const NOTHING_KNOWN: AssistOptions = { schema: undefined, names: new Map(), told: [], original: '' };

/** What the assistance goes by. It may change at any time, and a list that is open stays open. */
export const knowledge = Facet.define<AssistOptions, AssistOptions>({ combine: ([first]) => first ?? NOTHING_KNOWN });

export const assistance: Extension = [
  autocompletion({
    override: [context => completions(context, context.state.facet(knowledge))],
    icons: false,
    activateOnCompletion: picked => picked.type === 'property', // its value comes next
  }),
  linter(view => diagnostics(view, view.state.facet(knowledge)), {
    delay: 300,
    needsRefresh: ({ startState, state }) => startState.facet(knowledge) !== state.facet(knowledge),
  }),
  hoverTooltip((view, at, side) => explanation(view, at, side, view.state.facet(knowledge))),
];

export function completions(context: CompletionContext, options: AssistOptions): CompletionResult | null {
  const { state, pos } = context;
  const node = treeOf(state).resolveInner(pos, -1);
  const property = enclosing(node, 'Property');
  const isNaming = node.name === 'PropertyName' || (node.name === '⚠' && node.parent?.name === 'Object');
  if (property && node.name !== 'PropertyName' && isBehindColon(property, pos, state))
    return valueCompletions(context, options, node, property);
  const object = enclosing(node, 'Object');
  if (!object || !(isNaming || context.explicit || node.name === 'Object')) return null;
  return nameCompletions(context, options, node, object);
}

function nameCompletions(
  context: CompletionContext,
  { schema }: AssistOptions,
  node: SyntaxNode,
  object: SyntaxNode,
): CompletionResult | null {
  const { state, pos } = context;
  const isNamed = node.name === 'PropertyName';
  const typed = context.matchBefore(/"?[\w-]*/);
  const from = isNamed ? node.from : (typed?.from ?? pos);
  if (!isNamed && from === pos && !context.explicit) return null;
  const own = isNamed ? nameOf(node.parent ?? node, state.doc) : '';
  const taken = new Set(propertiesOf(object).map(property => nameOf(property, state.doc)));
  const members = schema?.membersAt(stepsTo(object, state.doc), dataOf(state)) ?? [];
  const hasColon = isNamed && Boolean(node.parent && isBehindColon(node.parent, node.parent.to + 1, state));
  return {
    from,
    to: isNamed ? node.to : pos,
    filter: true,
    options: members
      .filter(member => member.name === own || !taken.has(member.name))
      .map(member => ({
        label: `"${member.name}"`,
        type: 'property',
        displayLabel: member.name,
        detail: shapeOf(member.schema),
        info: member.about || undefined,
        boost: member.isRequired ? 50 : 0,
        apply: `"${member.name}"${hasColon ? '' : ': '}`,
      })),
  };
}

function valueCompletions(
  context: CompletionContext,
  { schema, names }: AssistOptions,
  node: SyntaxNode,
  property: SyntaxNode,
): CompletionResult | null {
  const { state, pos } = context;
  const steps = stepsTo(node.name === 'Property' || node.name === '⚠' ? property : node, state.doc);
  const isText = node.name === 'String';
  const word = isText ? { from: node.from } : context.matchBefore(/"?[\w.-]*/);
  const known = names.get(ownerOf(steps)) ?? [];
  const values = [...known, ...(schema?.valuesAt(steps, dataOf(state)) ?? [])];
  if (!values.length) return null;
  const options: Completion[] = [...new Set(values)].map(value => ({
    label: JSON.stringify(value),
    displayLabel: String(value),
    type: 'constant',
  }));
  return { from: word?.from ?? pos, to: isText ? node.to : pos, options };
}

/** The member a value belongs to; those of an object of names belong to the object. */
function ownerOf(steps: readonly Step[]): string {
  const named = steps.filter(step => typeof step === 'string');
  return named.at(-2) === 'conditionalWorkflows' ? 'conditionalWorkflows' : (named.at(-1) ?? '');
}

export function diagnostics(view: EditorView, { schema, told, original }: AssistOptions): Diagnostic[] {
  const broken = jsonParseLinter()(view);
  if (broken.length) return [...broken];
  const { state } = view;
  const stored = state.doc.toString() === original ? told : [];
  const fromServer = stored.map(({ path, level, cause, fix }) => ({
    ...rangeOf(state, stepsOf(path)),
    severity: level,
    message: `${cause} ${fix}`,
    source: 'mnemoir check',
  }));
  if (!schema || state.doc.length > MOST_CHECKED) return fromServer.map(line => onOneLine(state, line));
  const places = new Set(fromServer.map(found => found.from));
  const misfits = schema
    .faults(dataOf(state))
    .map(({ steps, message }): Diagnostic => ({
      ...rangeOf(state, steps),
      severity: 'error',
      message,
      source: 'schema',
    }))
    .filter(found => !places.has(found.from)); // the server says it better
  return [...fromServer, ...misfits].map(found => onOneLine(state, found));
}

/** What is wrong with a whole object is marked at its first line only. */
function onOneLine(state: EditorState, found: Diagnostic): Diagnostic {
  return { ...found, to: Math.min(found.to, state.doc.lineAt(found.from).to) };
}

function explanation(view: EditorView, at: number, side: -1 | 1, { schema }: AssistOptions) {
  const node = treeOf(view.state).resolveInner(at, side);
  if (!schema || node.name !== 'PropertyName') return null;
  const steps = stepsTo(node, view.state.doc);
  const found = schema.schemaAt(steps, dataOf(view.state));
  if (!found || !(aboutOf(found) || shapeOf(found))) return null;
  return {
    pos: node.from,
    end: node.to,
    create: () => ({ dom: described(String(steps.at(-1)), aboutOf(found), shapeOf(found)) }),
  };
}

function described(name: string, about: string, shape: string): HTMLElement {
  const box = document.createElement('div');
  box.className = 'cm-explained';
  for (const [tag, text] of [
    ['strong', name],
    ['p', about],
    ['small', shape],
  ] as const) {
    if (!text) continue;
    const line = document.createElement(tag);
    line.textContent = text;
    box.append(line);
  }
  return box;
}

function enclosing(node: SyntaxNode, name: string): SyntaxNode | null {
  for (let at: SyntaxNode | null = node; at; at = at.parent) {
    if (at.name === name) return at;
    if (name === 'Property' && at.name === 'Object') return null;
  }
  return null;
}

function isBehindColon(property: SyntaxNode, pos: number, state: EditorState): boolean {
  const name = property.getChild('PropertyName');
  return name !== null && state.sliceDoc(name.to, Math.min(pos, state.doc.length)).includes(':');
}
