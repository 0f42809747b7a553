/** The editor in the colours of the page; all of them are variables, so that light and dark follow by themselves. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The page's nonce, for the styles that the editor makes. */
export const nonce = () => document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

export const look = EditorView.theme({
  '&': { height: '100%', fontSize: 'var(--type-text)', backgroundColor: 'var(--mantine-color-body)' },
  '&.cm-focused': { outline: 'none' },
  '&:focus-within': { outline: '2px solid var(--mantine-primary-color-filled)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)', padding: '0.5rem 0' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface-quiet)',
    color: 'var(--mantine-color-dimmed)',
    borderRight: '1px solid var(--border-quiet)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--code-line)' },
  '.cm-placeLine': { backgroundColor: 'var(--code-place)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--code-selection)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--code-line)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--code-selection)' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--surface-quiet)',
    borderColor: 'var(--border-quiet)',
    color: 'var(--mantine-color-dimmed)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    border: '1px solid var(--border-quiet)',
    borderRadius: 'var(--radius-mark)',
    boxShadow: 'var(--mantine-shadow-md)',
    maxWidth: 'min(28rem, 90vw)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    maxHeight: '16rem',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.2rem 0.5rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--code-selection)',
    color: 'var(--mantine-color-text)',
  },
  '.cm-completionDetail': { color: 'var(--mantine-color-dimmed)', fontStyle: 'normal' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionInfo': { padding: '0.5rem 0.75rem' },
  '.cm-explained': { padding: '0.5rem 0.75rem', fontSize: 'var(--type-text)' },
  '.cm-explained p': { margin: '0.25rem 0' },
  '.cm-explained small': { color: 'var(--mantine-color-dimmed)' },
  // the marks CodeMirror brings are data: pictures, which the Content-Security-Policy refuses
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--mantine-color-error) 1px',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--caution) 1px',
    textUnderlineOffset: '3px',
  },
  '.cm-lint-marker': { width: '0.7em', height: '0.7em', margin: '0.4em 0.1em', borderRadius: '50%' },
  '.cm-lint-marker-error': { content: 'normal', backgroundColor: 'var(--mantine-color-error)' },
  '.cm-lint-marker-warning': {
    content: 'normal',
    borderRadius: 'var(--radius-mark)',
    backgroundColor: 'var(--caution)',
  },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--mantine-color-error)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--caution)' },
  '.cm-diagnostic': { padding: '0.375rem 0.75rem', fontSize: 'var(--type-text)' },
  '.cm-diagnosticSource': { color: 'var(--mantine-color-dimmed)', opacity: '1' },
  '.cm-panels': { backgroundColor: 'var(--surface-quiet)', color: 'var(--mantine-color-text)' },
  '.cm-panels.cm-panels-bottom': { borderTop: '1px solid var(--border-quiet)' },
  '.cm-textfield, .cm-button': {
    backgroundColor: 'var(--mantine-color-body)',
    backgroundImage: 'none',
    color: 'var(--mantine-color-text)',
    border: '1px solid var(--border-quiet)',
    borderRadius: 'var(--radius-mark)',
  },
});

export const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.propertyName, color: 'var(--code-member)' },
    { tag: tags.string, color: 'var(--code-string)' },
    { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
    { tag: [tags.separator, tags.squareBracket, tags.brace], color: 'var(--mantine-color-dimmed)' },
    { tag: tags.invalid, color: 'var(--mantine-color-error)', textDecoration: 'underline wavy' },
  ]),
);
