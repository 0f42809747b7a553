import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { EmptyState } from '@/shared/components/states';

export function NoSuchPage() {
  return (
    <EmptyState title="There is no such page" hint="The address may have been mistyped.">
      <Button component={Link} to="/">
        Go to the chat
      </Button>
    </EmptyState>
  );
}
