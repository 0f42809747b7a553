import { Group, Text } from '@mantine/core';
import { TbCircleCheck, TbCircleX } from 'react-icons/tb';
import { Words } from '@/shared/components/Words';
import type { useTestModel } from '@/shared/data/languageModel';
import classes from './ModelTab.module.css';

/** How one question to the model went. */
export function TestResult({ test }: { test: ReturnType<typeof useTestModel> }) {
  const found = test.data;
  return (
    <div role="status" className={found || test.isError ? '' : (classes.silent ?? '')}>
      {test.isError && <Failed>{test.error.message}</Failed>}
      {found &&
        (found.ok ? (
          <Group gap="xs" wrap="nowrap">
            <TbCircleCheck size={18} aria-hidden className={classes.good ?? ''} />
            <Text size="sm">
              <Words limit={200}>{found.model}</Words> answered in {lasting(found.latency_ms)}.
            </Text>
          </Group>
        ) : (
          <Failed>
            No answer: {found.problem}. {found.to_do}
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

function lasting(ms: number): string {
  return ms < 1000 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}
