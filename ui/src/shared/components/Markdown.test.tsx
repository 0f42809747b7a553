import { screen } from '@testing-library/react';
import { renderAt } from '../testing/render';
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

test('a text too long for Markdown is shown as words', () => {
  renderAt('/', <Markdown>{'a'.repeat(1_000_000)}</Markdown>);
  expect(screen.getByRole('button', { name: 'Show all 1,000,000 characters' })).toBeVisible();
});
