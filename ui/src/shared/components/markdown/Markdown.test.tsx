import { screen, waitFor } from '@testing-library/react';
import { renderAt } from '../../testing/render';
import { Markdown } from './Markdown';

test('raw HTML is shown as text', () => {
  const { container } = renderAt('/', <Markdown>{'<img src=x onerror="alert(1)"> <b>hi</b>'}</Markdown>);
  expect(container.querySelector('img, b')).toBeNull();
  expect(container).toHaveTextContent('<img src=x onerror="alert(1)">');
});

test('a link that would run a script leads nowhere', () => {
  renderAt('/', <Markdown>{'[click](javascript:alert(1)) [data](data:text/html,hi)'}</Markdown>);
  expect(screen.queryByRole('link')).not.toBeInTheDocument();
  expect(screen.getByText('click')).toBeVisible();
});

test('a picture from elsewhere is a link that says from where', () => {
  const { container } = renderAt('/', <Markdown>{'![A cat](https://pictures.example/cat.png)'}</Markdown>);
  expect(container.querySelector('img')).toBeNull();
  const link = screen.getByRole('link', { name: 'A cat (open from pictures.example)' });
  expect(link).toHaveAttribute('rel', expect.stringContaining('noreferrer'));
});

test('code can be copied, and says its language', () => {
  const { container } = renderAt('/', <Markdown>{'```python\nprint(1)\n```'}</Markdown>);
  expect(screen.getByText('python')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Copy code' })).toBeVisible();
  expect(container.querySelector('pre')).toHaveTextContent('print(1)'); // in one piece, or highlighted in several
});

test('characters that cannot be seen are shown', () => {
  renderAt('/', <Markdown>{'safe\u202eexe.txt'}</Markdown>);
  expect(screen.getByText('U+202E')).toBeVisible();
});

test('characters that cannot be seen are shown within HTML, too', () => {
  renderAt('/', <Markdown>{'<b>safe\u202eexe.txt</b>\n\n<div>\u200b</div>'}</Markdown>);
  expect(screen.getByText('U+202E')).toBeVisible();
  expect(screen.getByText('U+200B')).toBeVisible();
});

test.each([
  ['a line: $x^2$ and \\(y_1\\)', ['x^2', 'y_1']],
  ['$$\\int x^2\\,dx$$', ['\\int x^2\\,dx']],
  ['Text:\n$$\na_1 \\\\\n+ b * c\n= d\n$$\nmore', ['a_1 \\\\\n+ b * c\n= d']],
  ['> \\[\n> x = 1\n> \\]', ['x = 1']],
  ['- item $n$\n- $2x$, $3 + 4$', ['n', '2x', '3 + 4']],
])('%j holds formulas', async (text, formulas) => {
  const { container } = renderAt('/', <Markdown>{text}</Markdown>);
  await waitFor(() => expect(container.querySelectorAll('math annotation')).toHaveLength(formulas.length));
  const sources = [...container.querySelectorAll('math annotation')].map(each => each.textContent);
  expect(sources).toEqual(formulas);
});

test.each([
  'It costs $5 and then $10.',
  'Between $5 and 7$ a kilo',
  '$5-$10, US$5 to US$10',
  '$HOME:$PATH and $ x $',
  'a \\$x\\$ b',
  '`$x$` and `\\(y\\)`',
  '$$ never ends',
])('%j holds no formula', text => {
  const { container } = renderAt('/', <Markdown>{text}</Markdown>);
  expect(container.querySelector('[class*="display"], math')).toBeNull();
  expect(container).toHaveTextContent(text.replaceAll('`', '').replaceAll(/\\(?=\$)/g, ''));
});

test('a formula that cannot be read is shown as its source', async () => {
  const { container } = renderAt('/', <Markdown>{'see $\\nosuch{$ here, and $x$'}</Markdown>);
  await waitFor(() => expect(container.querySelector('math')).not.toBeNull());
  expect(screen.getByText('\\nosuch{')).toBeVisible();
});

test('the spaces of a formula are kept', async () => {
  const { container } = renderAt('/', <Markdown>{String.raw`$$\int x\,dx = 2 \qquad \sum n \; \! k$$`}</Markdown>);
  await waitFor(() => expect(container.querySelector('math')).not.toBeNull());
  const widths = [...container.querySelectorAll('math mspace')].map(each =>
    parseFloat(each.getAttribute('width') ?? ''),
  );
  expect(widths.map(width => Math.round(width * 100))).toEqual([17, 200, 28, -17]);
});

test('a formula brings no style and no link', async () => {
  const tex = '$\\href{javascript:alert(1)}{x} \\htmlStyle{color:red}{y} \\boxed{z} \\textcolor{red}{w}$';
  const { container } = renderAt('/', <Markdown>{tex}</Markdown>);
  await waitFor(() => expect(container.querySelector('math')).not.toBeNull());
  expect(container.querySelector('math [style], math [href], math [class]')).toBeNull();
});

test('many signs that open nothing are words', () => {
  const text = '$a $$b \\(c \\[d\n'.repeat(400);
  const { container } = renderAt('/', <Markdown>{text}</Markdown>);
  expect(container.querySelector('math')).toBeNull();
});

test('a text too long for Markdown is shown as words', () => {
  renderAt('/', <Markdown>{'a'.repeat(1_000_000)}</Markdown>);
  expect(screen.getByRole('button', { name: 'Show all 1,000,000 characters' })).toBeVisible();
});
