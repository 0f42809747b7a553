import { EmptyState } from '@/shared/components/states';

export function ChatPage() {
  return <EmptyState title="Nothing said yet" hint="Write the first message." />;
}
