import { Autocomplete, Button, type ComboboxParsedItem, Group, Text } from '@mantine/core';
import type { useOfferedModels } from '@/shared/data/languageModel';
import type { lockOf } from './kinds';
import classes from './ModelTab.module.css';

interface ModelNameProps {
  value: string;
  onChange: (model: string) => void;
  /** The models to choose from. */
  names: readonly string[];
  offered: Pick<ReturnType<typeof useOfferedModels>, 'data' | 'error' | 'isPending'>;
  /** Asks the server for its models; null while there is no address. */
  onList: (() => void) | null;
  lock: ReturnType<typeof lockOf>;
}

/** The name of a model, typed or chosen from those that its server lists. */
export function ModelName({ value, onChange, names, offered, onList, lock }: ModelNameProps) {
  return (
    <>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <Autocomplete
          label="Model"
          className={classes.model ?? ''}
          value={value}
          data={[...names]}
          filter={({ options, search }) => (names.includes(search) ? options : containing(options, search))}
          onChange={onChange}
          {...lock}
        />
        <Button variant="default" loading={offered.isPending} disabled={onList === null} onClick={() => onList?.()}>
          List models
        </Button>
      </Group>
      <Listed offered={offered} />
    </>
  );
}

/** The options with these letters in them; with a whole name in the field all are shown instead. */
function containing(options: ComboboxParsedItem[], search: string): ComboboxParsedItem[] {
  return options.filter(
    option => 'value' in option && option.value.toLowerCase().includes(search.trim().toLowerCase()),
  );
}

function Listed({ offered }: { offered: ModelNameProps['offered'] }) {
  const said = offered.error
    ? offered.error.message
    : offered.data?.problem
      ? `No list of models: ${offered.data.problem}. ${offered.data.to_do}`
      : offered.data
        ? `${offered.data.models.length} ${offered.data.models.length === 1 ? 'model' : 'models'} to choose from.`
        : '';
  return (
    <Text size="sm" role="status" className={said ? '' : (classes.silent ?? '')}>
      {said}
    </Text>
  );
}
