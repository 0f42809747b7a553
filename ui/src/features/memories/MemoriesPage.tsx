import { PageFrame } from '@/shared/components/PageFrame';

export function MemoriesPage() {
  return <PageFrame title="Memories">{null}</PageFrame>;
}
