import { Button, Group, PasswordInput, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { TbFingerprint, TbLifebuoy } from 'react-icons/tb';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { PageFrame } from '@/shared/components/PageFrame';
import { RecoveryCodes } from '@/shared/components/RecoveryCodes';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import {
  useAddPasskey,
  useEndSession,
  useNewPassword,
  useNewRecoveryCodes,
  usePasskeys,
  useRemovePasskey,
  useSessions,
} from '@/shared/data/signIn/account';
import { useAuth } from '@/shared/data/signIn/auth';
import { knowsPasskeys } from '@/shared/data/signIn/passkeys';
import classes from './AccountPage.module.css';

/** What a person decides about their own sign-in. */
export function AccountPage() {
  const user = useAuth().data?.user;
  return (
    <PageFrame title="My account">
      {user ? (
        <div className={classes.sections}>
          <Section title="Password">
            <PasswordForm />
          </Section>
          <Section title="Passkeys">
            <Passkeys />
          </Section>
          <Section title="Recovery codes">
            <NewCodes />
          </Section>
          <Section title="Where you are signed in">
            <Sessions />
          </Section>
        </div>
      ) : (
        <EmptyState title="Nobody is signed in" hint="This page is for people who sign in with a name." />
      )}
    </PageFrame>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack component="section" gap="sm" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

function PasswordForm() {
  const [old, setOld] = useState('');
  const [wanted, setWanted] = useState('');
  const change = useNewPassword();
  const save = (event: SyntheticEvent) => {
    event.preventDefault();
    change.mutate(
      { old, new: wanted },
      {
        onSuccess: () => {
          setOld('');
          setWanted('');
        },
      },
    );
  };
  return (
    <form onSubmit={save}>
      <Stack gap="sm" maw="24rem">
        <PasswordInput
          label="Password of now"
          value={old}
          onChange={event => setOld(event.currentTarget.value)}
          autoComplete="current-password"
          maxLength={512}
        />
        <PasswordInput
          label="New password"
          description="At least 10 characters."
          value={wanted}
          onChange={event => setWanted(event.currentTarget.value)}
          autoComplete="new-password"
          maxLength={512}
        />
        {change.isError && <ErrorState error={change.error} title="The password was not changed" />}
        {change.isSuccess && (
          <Text size="sm" role="status">
            Changed. You are signed out everywhere else.
          </Text>
        )}
        <Group>
          <Button type="submit" disabled={wanted.length < 10} loading={change.isPending}>
            Change the password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Passkeys() {
  const [label, setLabel] = useState('');
  const list = usePasskeys();
  const add = useAddPasskey();
  const remove = useRemovePasskey();
  const way = useAuth().data?.ways.passkey;
  const reason = way?.reason ?? (knowsPasskeys() ? null : 'This browser has no passkeys here.');
  if (list.isPending) return <LoadingState label="Loading your passkeys" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  const ask = async (id: string, name: string) => {
    const message = `The device of “${name}” then no longer signs you in.`;
    if (await confirm({ title: 'Remove this passkey?', message, action: 'Remove' }))
      remove.mutate(id, { onError: error => notifyFailure('The passkey was not removed', error) });
  };
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        A device, or your password manager, that signs you in with a fingerprint, face or PIN.
      </Text>
      {list.data.length > 0 && (
        <Table aria-label="Passkeys" verticalSpacing="xs">
          <Table.Tbody>
            {list.data.map(passkey => (
              <Table.Tr key={passkey.id}>
                <Table.Th scope="row" fw={500}>
                  <Words limit={80}>{passkey.label || 'Passkey'}</Words>
                </Table.Th>
                <Table.Td>
                  {passkey.last_used_at ? (
                    <>
                      used <Time value={passkey.last_used_at} ago />
                    </>
                  ) : (
                    <>
                      added <Time value={passkey.created_at} ago />
                    </>
                  )}
                </Table.Td>
                <Table.Td ta="right">
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`Remove ${passkey.label || 'Passkey'}`}
                    onClick={() => void ask(passkey.id, passkey.label || 'Passkey')}
                  >
                    Remove
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {reason ? (
        <Text size="sm" c="dimmed">
          {reason}
        </Text>
      ) : (
        <form
          onSubmit={event => {
            event.preventDefault();
            add.mutate(label.trim(), { onSuccess: () => setLabel('') });
          }}
        >
          <Group align="end" gap="xs">
            <TextInput
              label="Name of the new passkey"
              placeholder="Laptop"
              value={label}
              onChange={event => setLabel(event.currentTarget.value)}
              maxLength={80}
            />
            <Button
              type="submit"
              variant="default"
              leftSection={<TbFingerprint aria-hidden />}
              loading={add.isPending}
            >
              Add a passkey
            </Button>
          </Group>
        </form>
      )}
      {add.isError && <ErrorState error={add.error} title="No passkey was added" />}
    </Stack>
  );
}

function NewCodes() {
  const make = useNewRecoveryCodes();
  if (make.data) return <RecoveryCodes codes={make.data} action="Done" onDone={make.reset} />;
  const ask = async () => {
    const message = 'The ones that you have count no more then.';
    if (await confirm({ title: 'Make new recovery codes?', message, action: 'Make new ones' }))
      make.mutate(undefined, { onError: error => notifyFailure('No codes were made', error) });
  };
  return (
    <Group>
      <Button
        variant="default"
        leftSection={<TbLifebuoy aria-hidden />}
        loading={make.isPending}
        onClick={() => void ask()}
      >
        New recovery codes…
      </Button>
    </Group>
  );
}

function Sessions() {
  const list = useSessions();
  const end = useEndSession();
  if (list.isPending) return <LoadingState label="Loading your sessions" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <Table aria-label="Sessions" verticalSpacing="xs">
      <Table.Tbody>
        {list.data.map(session => (
          <Table.Tr key={session.id}>
            <Table.Th scope="row" fw={500}>
              <Words limit={120}>{session.agent || 'A browser'}</Words>
              {session.address && (
                <Text span size="xs" c="dimmed">
                  {' '}
                  {session.address}
                </Text>
              )}
            </Table.Th>
            <Table.Td>{session.is_current ? 'here' : <Time value={session.last_seen_at} ago />}</Table.Td>
            <Table.Td ta="right">
              {!session.is_current && (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`End the session of ${session.agent || 'a browser'}`}
                  onClick={() =>
                    end.mutate(session.id, { onError: error => notifyFailure('The session was not ended', error) })
                  }
                >
                  End
                </Button>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
