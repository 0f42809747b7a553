import { NativeSelect } from '@mantine/core';
import { useModel, useModels } from '@/shared/data/models';
import { change } from '@/shared/settings/settings';
import classes from './Composer.module.css';

/** Which model or workflow answers; remembered. */
export function ModelPicker() {
  const model = useModel();
  const { data: names = [] } = useModels();
  if (names.length === 0) return null;
  return (
    <NativeSelect
      className={classes.model ?? ''}
      classNames={{ input: classes.modelInput ?? '' }}
      size="xs"
      aria-label="Model or workflow"
      value={model}
      onChange={event => change.model(event.currentTarget.value)}
      data={names}
    />
  );
}
