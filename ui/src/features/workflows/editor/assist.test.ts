import {
  acceptCompletion,
  CompletionContext,
  completionStatus,
  currentCompletions,
  startCompletion,
} from '@codemirror/autocomplete';
import { json } from '@codemirror/lang-json';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { type AssistOptions, assistance, completions, diagnostics, knowledge } from './assist';
import { ConfigSchema } from './configSchema';

const branch = (type: string, then: object) => ({
  if: { properties: { type: { const: type } }, required: ['type'] },
  then,
});
const schema = new ConfigSchema({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'array',
  items: {
    type: 'object',
    properties: { type: { anyOf: [{ enum: ['Ask', 'Lock'] }, { type: 'string' }] } },
    allOf: [
      branch('Ask', {
        properties: { endpointName: { type: 'string', description: 'Whom.' }, jinja2: { type: ['boolean', 'null'] } },
      }),
      branch('Lock', { properties: { id: { type: 'string' } }, required: ['id'] }),
    ],
  },
});
const options: AssistOptions = { schema, names: new Map([['endpointName', ['Main']]]), told: [], original: '' };

// jsdom lays nothing out, and the editor asks where its text is when a list stays open
Object.assign(Range.prototype, { getClientRects: () => [] });

const PATIENCE = { timeout: 20_000 }; // a machine may be busy

/** What is offered at the bar in the text. */
function offered(text: string) {
  const at = text.indexOf('|');
  const state = EditorState.create({ doc: text.replace('|', ''), extensions: json() });
  return completions(new CompletionContext(state, at, true), options)?.options.map(
    option => option.displayLabel ?? option.label,
  );
}

function wrongs(doc: string, more: Partial<AssistOptions> = {}) {
  const view = new EditorView({ doc, extensions: json() });
  return diagnostics(view, { ...options, ...more }).map(
    found => `${found.severity} at ${doc.slice(found.from, found.to)}`,
  );
}

test('members of the type of the node are offered, those that are there left out', () => {
  expect(offered('[{"type": "Ask", "|"}]')).toEqual(['endpointName', 'jinja2']);
  expect(offered('[{"type": "Lock", "i|')).toEqual(['id']);
});

test('values come from the schema, and names from the tree', () => {
  expect(offered('[{"type": "|"}]')).toEqual(['Ask', 'Lock']);
  expect(offered('[{"type": "Ask", "jinja2": |}]')).toEqual(['true', 'false']);
  expect(offered('[{"type": "Ask", "endpointName": "M|"}]')).toEqual(['Main']);
});

test('nothing is offered where nothing is known', () => {
  expect(offered('[{"other": "|"}]')).toBeUndefined();
  expect(offered('|')).toBeUndefined();
});

test('a list that is open stays open when more becomes known', async () => {
  const known = new Compartment();
  const doc = '[{"type": "Ask", "endpointName": "M"}]';
  const extensions = [json(), assistance, known.of(knowledge.of(options))];
  const view = new EditorView({ doc, selection: { anchor: doc.indexOf('M"') + 1 }, extensions });
  startCompletion(view);
  await vi.waitFor(() => expect(completionStatus(view.state)).toBe('active'), PATIENCE);
  view.dispatch({ effects: known.reconfigure(knowledge.of({ ...options, told: [] })) });
  expect(completionStatus(view.state)).toBe('active');
  view.destroy();
});

test('values come by themselves when a member was picked, also when more becomes known then', async () => {
  const known = new Compartment();
  const doc = '[{"type": "Ask", "endp';
  const extensions = [json(), assistance, known.of(knowledge.of(options))];
  const view = new EditorView({ doc, selection: { anchor: doc.length }, extensions });
  startCompletion(view);
  await vi.waitFor(() => expect(acceptCompletion(view)).toBe(true), PATIENCE);
  view.dispatch({ effects: known.reconfigure(knowledge.of({ ...options, told: [] })) });
  await vi.waitFor(
    () => expect(currentCompletions(view.state).map(({ displayLabel }) => displayLabel)).toEqual(['Main']),
    PATIENCE,
  );
  expect(view.state.doc.toString()).toContain('"endpointName": ');
  view.destroy();
});

test('what does not fit is marked where it is', () => {
  expect(wrongs('[{"type": "Ask", "endpointName": 7}]')).toEqual(['error at 7']);
  expect(wrongs('[\n{"type": "Lock"}\n]')).toEqual(['error at {"type": "Lock"}']);
  expect(wrongs('[{"type": "Ask"}]')).toEqual([]);
});

test('text that is no JSON is told, and nothing else of it', () => {
  expect(wrongs('[{"type": "Lock"},]')).toHaveLength(1);
});

test('what the server said of the stored text is shown as long as the text is that', () => {
  const told = [{ path: '$[0].type', level: 'warning' as const, cause: 'Odd.', fix: 'Do it.' }];
  expect(wrongs('[{"type": "Ask"}]', { told, original: '[{"type": "Ask"}]' })).toEqual(['warning at "Ask"']);
  expect(wrongs('[{"type": "Ask"}]', { told, original: '[]' })).toEqual([]);
});
