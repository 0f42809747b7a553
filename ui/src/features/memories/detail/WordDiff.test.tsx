import { render } from '@testing-library/react';
import { WordDiff } from './WordDiff';

test('what went and what came stand beside each other, what stayed stays', () => {
  const { container } = render(
    <WordDiff before="Lives in Graz, near the river" after="Lives in Vienna, near the river" />,
  );
  expect([...container.querySelectorAll('del')].map(each => each.textContent)).toEqual(['Graz']);
  expect([...container.querySelectorAll('ins')].map(each => each.textContent)).toEqual(['Vienna']);
  expect(container).toHaveTextContent('Lives in GrazVienna, near the river');
});

test('characters that nobody sees are shown in it', () => {
  const { container } = render(<WordDiff before="a" after={'a \u202eb'} />);
  expect(container).toHaveTextContent('U+202E');
});
