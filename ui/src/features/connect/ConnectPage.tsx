import { PageFrame } from '@/shared/components/PageFrame';

export function ConnectPage() {
  return <PageFrame title="Connect">{null}</PageFrame>;
}
