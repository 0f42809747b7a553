import { Code, List, Stack, Title } from '@mantine/core';
import { Words } from '@/shared/components/Words';
import type { ModelSetup } from '@/shared/data/languageModel';

/** The values that file, environment or command line set. */
export function SetElsewhere({ fixed }: { fixed: ModelSetup['fixed'] }) {
  if (fixed.length === 0) return null;
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        Set outside this page
      </Title>
      <List size="sm">
        {fixed.map(({ key, value, set_by }) => (
          <List.Item key={key}>
            <Code>{key}</Code>
            {value !== null && (
              <>
                {' '}
                is <Words limit={200}>{value}</Words>
              </>
            )}
            , set by <Words limit={200}>{set_by}</Words>
            {key.endsWith('.api_key') && '; it is sent to its own address only'}
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}
