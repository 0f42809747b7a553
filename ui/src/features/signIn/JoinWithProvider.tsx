import { Button } from '@mantine/core';
import { TbLogin2 } from 'react-icons/tb';
import { ErrorState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import type { Auth } from '@/shared/data/access';
import { useJoinWithIssuer } from '@/shared/data/signIn';

interface JoinWithProviderProps {
  providers: Auth['ways']['oidc'];
  token: string;
  resets: boolean;
}

/** The identity providers that may take the place of a password or passkey; the name comes from there, too. */
export function JoinWithProvider({ providers, token, resets }: JoinWithProviderProps) {
  const joining = useJoinWithIssuer();
  return (
    <>
      {providers.map(({ id, name }) => (
        <Button
          key={id}
          variant="default"
          leftSection={<TbLogin2 size={17} aria-hidden />}
          loading={joining.isPending && joining.variables.id === id}
          onClick={() => joining.mutate({ id, token })}
        >
          <Words limit={60}>{`${resets ? 'Continue' : 'Join'} with ${name}`}</Words>
        </Button>
      ))}
      {joining.isError && <ErrorState error={joining.error} title="The provider could not be asked" />}
    </>
  );
}
