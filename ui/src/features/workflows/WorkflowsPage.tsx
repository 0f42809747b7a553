import { PageFrame } from '@/shared/components/PageFrame';

export function WorkflowsPage() {
  return <PageFrame title="Workflows">{null}</PageFrame>;
}
