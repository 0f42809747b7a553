import { NativeSelect } from '@mantine/core';
import { change, useSettings } from '@/shared/settings/settings';
import { useModels } from '../api/send-models';
import classes from './Composer.module.css';

/** Which model or workflow answers; remembered. A choice that is gone counts as none. */
export function ModelPicker() {
  const { model } = useSettings();
  const { data: names = [] } = useModels();
  if (names.length === 0) return null;
  return (
    <NativeSelect
      className={classes.model ?? ''}
      classNames={{ input: classes.modelInput ?? '' }}
      size="xs"
      aria-label="Model or workflow"
      value={names.includes(model) ? model : names[0]}
      onChange={event => change.model(event.currentTarget.value)}
      data={names}
    />
  );
}
