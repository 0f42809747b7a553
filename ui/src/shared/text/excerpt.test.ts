import { excerptOf } from './excerpt';

const told = (text: string, query: string) =>
  excerptOf(text, query, { before: 60, length: 220 })
    .map(bit => (bit.isMatch ? `[${bit.text}]` : bit.text))
    .join('');

describe('the excerpt of a message', () => {
  it('marks every word of the query, whatever its case', () => {
    expect(told('Green tea, and more Tea.', 'tea green')).toBe('[Green] [tea], and more [Tea].');
  });

  it('begins near the first match of a long text', () => {
    const found = told(`${'before '.repeat(100)}needle${' after'.repeat(100)}`, 'needle');
    expect(found).toContain('[needle]');
    expect(found.startsWith('…')).toBe(true);
    expect(found.length).toBeLessThan(260);
  });

  it('shows the beginning where only the meaning was found', () => {
    expect(told('You drink black tea.', 'beverage')).toBe('You drink black tea.');
  });

  it.each(['(((', '.*', '\\', '[a', '$', '^', '+?', '{1,'])('takes %s for words', query => {
    expect(told(`a ${query}x b`, `${query}x`)).toBe(`a [${query}x] b`);
  });

  it('marks nothing for a query without letters', () => {
    expect(told('a - b', '- -')).toBe('a - b');
  });
});
