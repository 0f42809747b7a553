import { Fieldset, NativeSelect, SimpleGrid } from '@mantine/core';
import type { MemorySettings } from '@/shared/data/memories/projectSettings';

/** What is done with personal data in facts, in messages, and in what models are sent. */
export type PersonalData = Pick<MemorySettings, 'piiFacts' | 'piiMessages' | 'piiModels'>;

const ACTIONS: { value: MemorySettings['piiFacts']; label: string }[] = [
  { value: 'off', label: 'Leave it' },
  { value: 'tag', label: 'Mark it' },
  { value: 'redact', label: 'Put placeholders' },
  { value: 'block', label: 'Refuse it' },
];
const PLACES: { name: keyof PersonalData; label: string; description: string }[] = [
  { name: 'piiFacts', label: 'In memories', description: 'Refused ones are not remembered.' },
  { name: 'piiMessages', label: 'In conversations', description: 'As they are stored.' },
  { name: 'piiModels', label: 'To models', description: 'What they are sent.' },
];

interface FieldsProps {
  chosen: PersonalData;
  onChange: (chosen: PersonalData) => void;
}

/** One choice for each place. */
export function PersonalDataFields({ chosen, onChange }: FieldsProps) {
  return (
    <Fieldset legend="Personal data: addresses, numbers, secrets">
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="md" verticalSpacing="xs" style={{ alignItems: 'end' }}>
        {PLACES.map(({ name, label, description }) => (
          <NativeSelect
            key={name}
            label={label}
            description={description}
            data={ACTIONS}
            value={chosen[name]}
            onChange={event =>
              onChange({ ...chosen, [name]: event.currentTarget.value as MemorySettings['piiFacts'] })
            }
          />
        ))}
      </SimpleGrid>
    </Fieldset>
  );
}

/** The choices that differ, as the request says them. */
export function changedPersonalData(before: PersonalData, now: PersonalData): Partial<PersonalData> {
  return Object.fromEntries(
    PLACES.filter(({ name }) => now[name] !== before[name]).map(({ name }) => [name, now[name]]),
  );
}
