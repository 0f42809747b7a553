import { Stack, Text, Title } from '@mantine/core';
import { TbFileImport } from 'react-icons/tb';
import { PageFrame } from '@/shared/components/PageFrame';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useImports } from '@/shared/data/imports';
import { Chooser } from './Chooser';
import { ImportCard } from './ImportCard';
import classes from './PastPage.module.css';

/** Chats and memories of other programs: bring them in, learn from them, take them back. */
export function PastPage() {
  const imports = useImports();
  return (
    <PageFrame title="Bring your past" column>
      <Stack gap="lg">
        <Chooser mostBytes={imports.data?.most_bytes} />
        <section aria-labelledby="imports">
          <Title order={2} size="h4" id="imports" mb="xs">
            Your imports
          </Title>
          {imports.isPending && <LoadingState label="Loading imports" />}
          {imports.isError && <ErrorState error={imports.error} onRetry={() => void imports.refetch()} />}
          {imports.data?.results.length === 0 && (
            <EmptyState
              Icon={TbFileImport}
              title="Nothing yet"
              hint="What you import here can be learned from, and taken back."
            />
          )}
          {imports.data && imports.data.results.length > 0 && (
            <ul className={classes.list} aria-label="Imports">
              {imports.data.results.map(one => (
                <ImportCard key={one.id} one={one} />
              ))}
            </ul>
          )}
          {imports.data && imports.data.results.length === 0 && (
            <Text size="sm" c="dimmed" ta="center">
              Your chats stay as they are in the other program.
            </Text>
          )}
        </section>
      </Stack>
    </PageFrame>
  );
}
