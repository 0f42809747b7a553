import { PageFrame } from '@/shared/components/PageFrame';

export function ConversationsPage() {
  return <PageFrame title="Conversations">{null}</PageFrame>;
}
