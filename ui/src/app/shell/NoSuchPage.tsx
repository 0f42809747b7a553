import { Button } from '@mantine/core';
import { TbMapQuestion } from 'react-icons/tb';
import { Link } from 'react-router';
import { EmptyState } from '@/shared/components/states';

export function NoSuchPage() {
  return (
    <EmptyState Icon={TbMapQuestion} title="Page not found" hint="Check the address.">
      <Button component={Link} to="/">
        Go to chat
      </Button>
    </EmptyState>
  );
}
