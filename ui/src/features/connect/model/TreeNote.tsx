import { Alert, Text } from '@mantine/core';
import { TbBinaryTree2 } from 'react-icons/tb';
import { useStatus } from '@/shared/data/status';

/** With a config tree, chats ask other models; this says where those are set. */
export function TreeNote() {
  const { data } = useStatus();
  const files = (data?.endpoints ?? []).map(endpoint => endpoint.path).filter(path => path !== null);
  return (
    <Alert variant="default" icon={<TbBinaryTree2 aria-hidden />} title="This sets the model of the memory">
      <Text size="sm">
        This server answers by workflows. The model here derives what is remembered, and answers where a workflow has
        the node Respond. The models of the workflows stand in their endpoint files
        {files.length > 0 && `: ${files.join(', ')}`}.
      </Text>
    </Alert>
  );
}
