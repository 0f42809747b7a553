import { Button, Menu } from '@mantine/core';
import { TbLogout, TbUser } from 'react-icons/tb';
import { Link } from 'react-router';
import { notifyFailure } from '@/shared/components/notify';
import { Words } from '@/shared/components/Words';
import { useSignOut } from '@/shared/data/signIn/auth';

/** Who signed in, and what they can do about it. */
export function AccountMenu({ name }: { name: string }) {
  const signOut = useSignOut();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          leftSection={<TbUser size={16} aria-hidden />}
          aria-label={`Signed in as ${name}`}
          loading={signOut.isPending}
        >
          <Words limit={20}>{name}</Words>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to="/account" leftSection={<TbUser size={16} aria-hidden />}>
          My account
        </Menu.Item>
        <Menu.Item
          leftSection={<TbLogout size={16} aria-hidden />}
          onClick={() =>
            signOut.mutate(undefined, { onError: error => notifyFailure('You are not signed out', error) })
          }
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
