import { modals } from '@mantine/modals';
import type { Auth } from '@/shared/data/access';
import { ConfirmForm } from './ConfirmForm';

/** Asks whoever signed in to show again who they are; resolves to whether they did. */
export function askAgain(ways: Auth['ways'] | undefined): Promise<boolean> {
  return new Promise(resolve => {
    const id = modals.open({
      title: 'Is it you?',
      closeButtonProps: { 'aria-label': 'Close' },
      onClose: () => resolve(false),
      children: (
        <ConfirmForm
          ways={ways}
          onConfirmed={() => {
            resolve(true);
            modals.close(id);
          }}
        />
      ),
    });
  });
}
