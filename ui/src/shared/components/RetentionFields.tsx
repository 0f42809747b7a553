import { Fieldset, NumberInput, SimpleGrid, Stack, Text } from '@mantine/core';
import { problemAt } from '@/shared/api/errors';
import { type Days, daysInWords, KEPT, type Kept, NAMES } from '@/shared/data/retention';

const DESCRIPTIONS: Record<Kept, string> = {
  memories: 'With their history, unless renewed.',
  history: 'Earlier texts; the latest change is kept.',
  deleted: 'Restorable until then.',
};

interface RetentionFieldsProps {
  days: Days;
  onChange: (days: Days) => void;
  /** What holds for an empty field. */
  otherwise: Days;
  /** Why the server refused what was filled in, and where its answer has each field. */
  error: unknown;
  placeOf: (kept: Kept) => string;
}

/** For how many days things are kept; an empty field leaves it to the tenant or the server. */
export function RetentionFields({ days, onChange, otherwise, error, placeOf }: RetentionFieldsProps) {
  return (
    <Fieldset legend="Retention: what is deleted by age">
      <Stack gap="xs">
        <SimpleGrid
          cols={{ base: 1, xs: 3 }}
          spacing="md"
          verticalSpacing="xs"
          style={{ alignItems: 'end' }} // descriptions of one and two lines
        >
          {KEPT.map(kept => (
            <NumberInput
              key={kept}
              label={NAMES[kept]}
              description={DESCRIPTIONS[kept]}
              placeholder={daysInWords(otherwise[kept])}
              suffix=" days"
              min={0}
              allowDecimal={false}
              value={days[kept]}
              error={problemAt(error, placeOf(kept))}
              onChange={value => onChange({ ...days, [kept]: value })}
            />
          ))}
        </SimpleGrid>
        <Text size="xs" c="dimmed">
          Anything older is deleted for good within the hour. 0 keeps it forever; leave a field empty for the server’s
          setting.
        </Text>
      </Stack>
    </Fieldset>
  );
}
