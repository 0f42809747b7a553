import { PageFrame } from '@/shared/components/PageFrame';

export function RunsPage() {
  return <PageFrame title="Runs">{null}</PageFrame>;
}
