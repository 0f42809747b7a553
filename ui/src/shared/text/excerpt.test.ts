import { excerptOf } from './excerpt';

const told = (text: string, query: string) =>
  excerptOf(text, query, { before: 60, length: 220 })
    .map(bit => (bit.isMatch ? `[${bit.text}]` : bit.text))
    .join('');

describe('the excerpt of a message', () => {
  it('marks every word of the query, whatever its case', () => {
    expect(told('Green tea, and more Tea.', 'tea green')).toBe('[Green] [tea], and more [Tea].');
  });

  it('marks words where they begin, and short ones only whole', () => {
    expect(told('Which boats row?', 'do boats row?')).toBe('Which [boats] [row]?');
    expect(told('I eat steak; it is mine', 'eat i')).toBe('[I] [eat] steak; it is mine');
    expect(told('Spielt Schach und Schachspiele', 'schach')).toBe('Spielt [Schach] und [Schach]spiele');
    expect(told('私は東京に住む', '東京')).toBe('私は[東京]に住む');
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
