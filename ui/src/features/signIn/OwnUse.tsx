import { Text } from '@mantine/core';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { UseTable } from '@/shared/components/UseTable';
import type { Me } from '@/shared/data/access';
import { useUsage } from '@/shared/data/usage';

/** What is stored for the person, and the tokens that models took, beside the quotas on it. */
export function OwnUse({ me }: { me: Me }) {
  const usage = useUsage();
  if (usage.isPending) return <LoadingState label="Loading your use" />;
  if (usage.isError) return <ErrorState error={usage.error} onRetry={() => void usage.refetch()} />;
  const own = usage.data?.results.filter(use => use.tenant === me.tenant && use.user === me.user) ?? [];
  if (!own.length) return <Text size="sm">Nothing is stored or used yet.</Text>;
  return <UseTable uses={own} />;
}
