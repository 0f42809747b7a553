import { ActionIcon, Popover, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import { TbAdjustmentsHorizontal } from 'react-icons/tb';
import { LoadingState } from '@/shared/components/states';
import type { Talk } from '../thread/useTalk';

const ChatOptionsForm = lazy(async () => ({ default: (await import('./ChatOptionsForm')).ChatOptionsForm }));

const NAME = 'System prompt and temperature';

/** Opens what this chat alone is asked with; coloured while anything of it is set. */
export function ChatOptionsButton({ conversation, talk }: { conversation: string | null; talk: Talk }) {
  const [opened, panel] = useDisclosure(false);
  const { systemPrompt, temperature } = talk.options;
  const isSet = systemPrompt !== '' || temperature !== null;
  const name = isSet ? `${NAME} (set)` : NAME;
  return (
    <Popover
      opened={opened}
      onChange={isOpen => (isOpen ? panel.open() : panel.close())}
      width="min(26rem, 90vw)"
      position="top-start"
      shadow="md"
      trapFocus
      returnFocus
    >
      <Tooltip label={name} disabled={opened}>
        <Popover.Target>
          <ActionIcon
            variant="subtle"
            {...(!isSet && { color: 'gray' })}
            size="lg"
            radius="xl"
            aria-label={name}
            onClick={panel.toggle}
          >
            <TbAdjustmentsHorizontal size={20} />
          </ActionIcon>
        </Popover.Target>
      </Tooltip>
      <Popover.Dropdown>
        <Suspense fallback={<LoadingState />}>
          <ChatOptionsForm
            conversation={conversation}
            place={talk.place}
            options={talk.options}
            onClose={panel.close}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
