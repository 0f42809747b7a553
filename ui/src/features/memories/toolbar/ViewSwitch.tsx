import { SegmentedControl } from '@mantine/core';
import { memo } from 'react';
import type { Place } from '../place';

interface ViewSwitchProps {
  view: Place['view'];
  onChange: (view: Place['view']) => void;
}

/** Table, timeline or map. */
export const ViewSwitch = memo(function ViewSwitch({ view, onChange }: ViewSwitchProps) {
  return (
    <SegmentedControl
      size="xs"
      ml="auto"
      aria-label="View"
      value={view}
      onChange={onChange}
      data={[
        { value: 'table', label: 'Table' },
        { value: 'timeline', label: 'Timeline' },
        { value: 'map', label: 'Map' },
      ]}
    />
  );
});
