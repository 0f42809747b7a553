import { ActionIcon, Group, Text } from '@mantine/core';
import { TbChevronLeft, TbChevronRight } from 'react-icons/tb';

interface BranchSwitchProps {
  siblings: readonly number[];
  id: number;
  onChoose: (id: number) => void;
}

/** ‹2/3›: which of the branches that begin here is shown. */
export function BranchSwitch({ siblings, id, onChoose }: BranchSwitchProps) {
  const at = siblings.indexOf(id);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  return (
    <Group gap={0} wrap="nowrap" role="group" aria-label={`Branch ${at + 1} of ${siblings.length}`}>
      <ActionIcon
        size="sm"
        variant="subtle"
        color="gray"
        aria-label="Previous branch"
        disabled={before === undefined}
        onClick={() => before !== undefined && onChoose(before)}
      >
        <TbChevronLeft aria-hidden />
      </ActionIcon>
      <Text size="xs" c="dimmed" component="span">
        {at + 1}/{siblings.length}
      </Text>
      <ActionIcon
        size="sm"
        variant="subtle"
        color="gray"
        aria-label="Next branch"
        disabled={after === undefined}
        onClick={() => after !== undefined && onChoose(after)}
      >
        <TbChevronRight aria-hidden />
      </ActionIcon>
    </Group>
  );
}
