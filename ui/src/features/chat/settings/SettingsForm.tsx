import { Checkbox, Divider, SegmentedControl, Stack, Text, useMantineColorScheme } from '@mantine/core';
import { useAbout } from '@/shared/data/about';
import { useMe } from '@/shared/data/access';
import { change, useSettings } from '@/shared/settings/settings';
import { KeySettings } from './KeySettings';
import { ScopeSettings } from './ScopeSettings';

/** What can be set; each change counts at once. */
export function SettingsForm() {
  const { memoryEnabled } = useSettings();
  const needsKey = useAbout().data?.needs_key ?? false;
  const isPerson = useMe().signed_in;
  return (
    <Stack gap="md">
      <div>
        <Checkbox
          label="Long Term Memory"
          checked={memoryEnabled}
          onChange={event => change.memoryEnabled(event.currentTarget.checked)}
          aria-describedby="memory-explained"
        />
        <Text id="memory-explained" size="xs" c="dimmed" mt={4} ml={32}>
          Chats recall what Mnemoir knows about you, and learn from what you say. When off, they do neither.
        </Text>
      </div>
      <Divider />
      <ScopeSettings />
      {needsKey && !isPerson && (
        <>
          <Divider />
          <KeySettings />
        </>
      )}
      <Divider />
      <Appearance />
    </Stack>
  );
}

type Scheme = 'auto' | 'light' | 'dark';

const schemes: { value: Scheme; label: string }[] = [
  { value: 'auto', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

function Appearance() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <div>
      <Text size="sm" fw={500} mb={4} id="appearance">
        Appearance
      </Text>
      <SegmentedControl
        fullWidth
        aria-labelledby="appearance"
        data={schemes}
        value={colorScheme}
        onChange={value => setColorScheme(value)}
      />
    </div>
  );
}
