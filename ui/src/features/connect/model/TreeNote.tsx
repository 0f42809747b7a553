import { Alert, Text } from '@mantine/core';
import { TbBinaryTree2 } from 'react-icons/tb';
import { useStatus } from '@/shared/data/status';

/** With a config tree, chats ask other models; this says where those are set. */
export function TreeNote() {
  const { data } = useStatus();
  const files = (data?.endpoints ?? []).map(endpoint => endpoint.path).filter(path => path !== null);
  return (
    <Alert variant="default" icon={<TbBinaryTree2 aria-hidden />} title="This is the model for memory">
      <Text size="sm">
        This server runs workflows. The model here extracts memories, and answers in workflows with a Respond node.
        The other models are set in endpoint files
        {files.length > 0 && `: ${files.join(', ')}`}.
      </Text>
    </Alert>
  );
}
