import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { renderAt } from '../testing/render';
import { useAddressParams } from './useAddressParams';

function Page() {
  const { params, change } = useAddressParams();
  return <button onClick={() => change({ by: 'words', gone: null, kept: undefined })}>{params.toString()}</button>;
}

test('a change takes in what the address says already and the page does not show yet', async () => {
  const { router } = renderAt('/?kept=1&gone=2', <Page />);
  const button = screen.getByRole('button', { name: 'kept=1&gone=2' });
  window.history.replaceState(window.history.state, '', '/?kept=1&gone=2&q=viola');
  await userEvent.click(button);
  expect(router.state.location.search).toBe('?kept=1&q=viola&by=words');
});
