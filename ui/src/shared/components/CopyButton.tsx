import { ActionIcon, CopyButton as Copy, Tooltip } from '@mantine/core';
import { TbCheck, TbCopy } from 'react-icons/tb';

interface CopyButtonProps {
  text: string;
  label?: string;
}

/** Copies `text`; says that it did. */
export function CopyButton({ text, label = 'Copy' }: CopyButtonProps) {
  return (
    <Copy value={text} timeout={2000}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : label}>
          <ActionIcon variant="subtle" color="gray" size="sm" onClick={copy} aria-label={copied ? 'Copied' : label}>
            {copied ? <TbCheck size={16} /> : <TbCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </Copy>
  );
}
