import { Button, Menu } from '@mantine/core';
import { TbLogout, TbUserCircle } from 'react-icons/tb';
import { Link } from 'react-router';
import { notifyFailure } from '@/shared/components/notify';
import { useSignOut } from '@/shared/data/signIn';
import classes from './AccountMenu.module.css';

/** Whoever signed in: their account, and the way out. */
export function AccountMenu({ name }: { name: string }) {
  const signOut = useSignOut();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          size="xs"
          leftSection={<TbUserCircle size={16} aria-hidden />}
          aria-label={`Account of ${name}`}
          classNames={{ label: classes.name ?? '', section: classes.icon ?? '' }}
        >
          {name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to="/account" leftSection={<TbUserCircle size={16} aria-hidden />}>
          My account
        </Menu.Item>
        <Menu.Item
          leftSection={<TbLogout size={16} aria-hidden />}
          onClick={() =>
            signOut.mutate(undefined, { onError: error => notifyFailure('You were not signed out', error) })
          }
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
