import { PageFrame } from '@/shared/components/PageFrame';

export function StatusPage() {
  return <PageFrame title="Status">{null}</PageFrame>;
}
