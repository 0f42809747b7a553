import { Alert, Stack, Text } from '@mantine/core';
import { TbAlertTriangle, TbCircleX } from 'react-icons/tb';
import { Words } from '@/shared/components/Words';
import type { Status } from '@/shared/data/status';

/** What is not as it should be, each with the next step. */
export function Remarks({ remarks }: { remarks: Status['remarks'] }) {
  return (
    <Stack gap="xs" role="region" aria-label="Remarks" aria-live="polite">
      {remarks.map(({ about, state, found, to_do }) => (
        <Alert
          key={`${about} ${found}`}
          variant="light"
          color={state === 'fail' ? 'red' : 'yellow'}
          icon={state === 'fail' ? <TbCircleX aria-hidden /> : <TbAlertTriangle aria-hidden />}
          role="note"
        >
          <Text size="sm" fw={550}>
            <Words limit={600}>{found}</Words>
          </Text>
          <Text size="sm">
            <Words limit={600}>{to_do}</Words>
          </Text>
        </Alert>
      ))}
    </Stack>
  );
}
