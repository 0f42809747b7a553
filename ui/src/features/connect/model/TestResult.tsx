import { Group, Text } from '@mantine/core';
import { TbCircleCheck, TbCircleX } from 'react-icons/tb';
import classes from './ModelTab.module.css';

interface Tested {
  ok: boolean;
  problem: string;
  to_do: string;
}

interface TestResultProps<Data extends Tested> {
  test: { data: Data | undefined; isError: boolean; error: Error | null };
  /** What is said of a test that went well. */
  children: (found: Data) => React.ReactNode;
}

/** How one try of a model went. */
export function TestResult<Data extends Tested>({ test, children }: TestResultProps<Data>) {
  const found = test.data;
  return (
    <div role="status" className={found || test.isError ? '' : (classes.silent ?? '')}>
      {test.isError && <Failed>{test.error?.message}</Failed>}
      {found &&
        (found.ok ? (
          <Group gap="xs" wrap="nowrap">
            <TbCircleCheck size={18} aria-hidden className={classes.good ?? ''} />
            <Text size="sm">{children(found)}</Text>
          </Group>
        ) : (
          <Failed>
            It failed: {found.problem}. {found.to_do}
          </Failed>
        ))}
    </div>
  );
}

function Failed({ children }: { children: React.ReactNode }) {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <TbCircleX size={18} aria-hidden className={classes.bad ?? ''} />
      <Text size="sm">{children}</Text>
    </Group>
  );
}

export function lasting(ms: number): string {
  return ms < 1000 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}
