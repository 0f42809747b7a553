import { Badge, Tabs } from '@mantine/core';
import type { ConfigProblems } from '@/shared/data/workflows';

/** The tab of the problems, with how many there are. */
export function ProblemsTab({ problems }: { problems: ConfigProblems | undefined }) {
  const count = problems ? problems.errors + problems.warnings : 0;
  return (
    <Tabs.Tab
      value="problems"
      rightSection={
        count > 0 && (
          <Badge size="xs" variant="light" circle={count < 10} color={problems?.errors ? 'red' : 'yellow'}>
            {count}
          </Badge>
        )
      }
    >
      Problems
    </Tabs.Tab>
  );
}
