import { Badge } from '@mantine/core';
import type { IconType } from 'react-icons';
import { TbAlertTriangle, TbCircleCheck, TbCircleDashed, TbCircleX } from 'react-icons/tb';
import type { Health } from '@/shared/data/status';

const LOOKS: Record<Health | 'unknown', { color: string; label: string; Icon: IconType }> = {
  ok: { color: 'pine', label: 'OK', Icon: TbCircleCheck },
  warn: { color: 'yellow', label: 'Attention', Icon: TbAlertTriangle },
  fail: { color: 'red', label: 'Not working', Icon: TbCircleX },
  unknown: { color: 'gray', label: 'Not checked yet', Icon: TbCircleDashed },
};

/** A state in a word, a sign and a colour. */
export function StateBadge({ state }: { state: Health | null }) {
  const { color, label, Icon } = LOOKS[state ?? 'unknown'];
  return (
    <Badge color={color} variant="light" tt="none" fw={600} leftSection={<Icon size={14} aria-hidden />} autoContrast>
      {label}
    </Badge>
  );
}
