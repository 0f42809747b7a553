import { Alert, Badge, Group, Text } from '@mantine/core';
import { Link } from 'react-router';
import { Words } from '@/shared/components/Words';
import type { ConfigUser } from '@/shared/data/workflows';
import { addressOf } from '../place';
import classes from './FileView.module.css';

/** Where messages of a user start. */
export function UserStarts({ user }: { user: ConfigUser }) {
  return (
    <section className={classes.starts} aria-label="Where messages start">
      <Group gap="xs">
        <Text fw={600}>
          <Words>{user.name}</Words>
        </Text>
        {user.is_served && <Badge size="sm">served</Badge>}
        {user.is_current && (
          <Badge size="sm" variant="default">
            current user
          </Badge>
        )}
      </Group>
      {user.problem && (
        <Alert color="red" variant="light" title="Where messages start is not known" my="xs">
          <Words>{user.problem}</Words>
        </Alert>
      )}
      <ul className={classes.list}>
        {user.starts.map(start => (
          <li key={`${start.when ?? ''} ${start.name}`}>
            <Text span size="sm" c="dimmed">
              {start.when === null ? (user.starts.length > 1 ? 'every message first' : 'every message') : start.when}{' '}
              →{' '}
            </Text>
            {start.path ? (
              <Link to={addressOf(start.path, '', user.name)}>
                <Words>{start.name}</Words>
              </Link>
            ) : (
              <Text span size="sm" c="var(--mantine-color-error)">
                <Words>{start.name || 'no workflow set'}</Words> (not found)
              </Text>
            )}
          </li>
        ))}
      </ul>
      {user.models.length > 0 && (
        <Text size="xs" c="dimmed">
          Clients use it as model {user.models.join(', ')}.
        </Text>
      )}
    </section>
  );
}
