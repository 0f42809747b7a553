import { draftOf, giveBack, holdDraft, releaseDraft, writeDraft } from './drafts';

const place = { user: 'mira', project: 'default', conversation: 'tea' };
const kept = () => Object.keys(localStorage).map(name => localStorage.getItem(name));

test('drafts are kept for each conversation', () => {
  writeDraft(place, 'half a thought');
  expect(draftOf(place)).toBe('half a thought');
  expect(draftOf({ ...place, conversation: 'coffee' })).toBe('');
  expect(draftOf({ ...place, user: 'alex' })).toBe('');
});

test('words on their way are out of the composer and not lost', () => {
  holdDraft(place, 'on its way');
  expect(draftOf(place)).toBe('');
  expect(kept()).toEqual(['on its way']);
  releaseDraft(place);
  expect(kept()).toEqual([]);
});

test('words that did not arrive come back before those typed since', () => {
  holdDraft(place, 'first');
  giveBack(place, 'first');
  expect(draftOf(place)).toBe('first');
  writeDraft(place, 'second');
  giveBack(place, 'first');
  expect(draftOf(place)).toBe('first\n\nsecond');
});

test('what was typed while a message was on its way outlives its arrival', () => {
  holdDraft(place, 'first');
  writeDraft(place, 'next');
  releaseDraft(place);
  expect(draftOf(place)).toBe('next');
});
