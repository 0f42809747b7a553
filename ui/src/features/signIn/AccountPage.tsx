import { Button, Stack } from '@mantine/core';
import { TbUserQuestion } from 'react-icons/tb';
import { Link } from 'react-router';
import { confirm } from '@/shared/components/confirm';
import { PageFrame } from '@/shared/components/PageFrame';
import { Section } from '@/shared/components/Section';
import { EmptyState, ErrorState } from '@/shared/components/states';
import { useAuth, useMe } from '@/shared/data/access';
import { type AskAgain, useNewRecoveryCodes } from '@/shared/data/account';
import { askAgain } from './askAgain';
import { OwnUse } from './OwnUse';
import { Passkeys } from './Passkeys';
import { PasswordForm } from './PasswordForm';
import { RecoveryCodes } from './RecoveryCodes';
import { Sessions } from './Sessions';
import { TimeZone } from './TimeZone';

/** What people who signed in change themselves: how they sign in, and where they are signed in. */
export function AccountPage() {
  const me = useMe();
  const auth = useAuth().data;
  const again = () => askAgain(auth?.ways);
  return (
    <PageFrame title="My account" column>
      {me.signed_in ? (
        <Stack gap="md">
          <Section title="Password">
            <PasswordForm name={me.name ?? ''} askAgain={again} />
          </Section>
          <Section
            title="Passkeys"
            hint="Sign in with the screen lock of a phone or computer, or with a security key."
          >
            <Passkeys unavailable={auth?.ways.passkey.reason ?? null} askAgain={again} />
          </Section>
          <Section title="Recovery codes" hint="For when you have neither your password nor a passkey.">
            <NewCodes askAgain={again} />
          </Section>
          <Section title="Time zone" hint="For days such as “tomorrow”, in other apps too.">
            <TimeZone />
          </Section>
          <Section title="Sessions" hint="The browsers you are signed in with.">
            <Sessions />
          </Section>
          <Section title="Use" hint="What is stored for you, and what your chats used. Days and months are in UTC.">
            <OwnUse me={me} />
          </Section>
        </Stack>
      ) : (
        <EmptyState
          Icon={TbUserQuestion}
          title="Not signed in"
          hint="Accounts belong to people who sign in. You use these pages with a key, or without one."
        >
          <Button size="xs" variant="default" component={Link} to="/keys">
            People and keys
          </Button>
        </EmptyState>
      )}
    </PageFrame>
  );
}

function NewCodes({ askAgain: again }: { askAgain: AskAgain }) {
  const renew = useNewRecoveryCodes(again);
  const ask = async () => {
    const message = 'Your current codes will stop working.';
    if (await confirm({ title: 'Make new recovery codes?', message, action: 'Make new codes' })) renew.mutate();
  };
  if (renew.data) return <RecoveryCodes codes={renew.data} />;
  return (
    <>
      {renew.isError && <ErrorState error={renew.error} title="No codes were made" />}
      <Button size="xs" variant="default" w="fit-content" loading={renew.isPending} onClick={() => void ask()}>
        Make new recovery codes…
      </Button>
    </>
  );
}
