import type { RunVariable } from '@/shared/data/runs/run';
import { hueOf } from './hues';
import classes from './NodePrompt.module.css';

interface VariableLegendProps {
  names: readonly string[];
  variables: readonly RunVariable[];
}

/** The variables of a prompt by their colours, and how often each stands in it. */
export function VariableLegend({ names, variables }: VariableLegendProps) {
  if (!names.length) return null;
  return (
    <ul className={classes.legend} aria-label="Variables in this prompt">
      {names.map(name => {
        const times = variables.filter(variable => variable.name === name).length;
        return (
          <li key={name} className={classes.name} data-hue={hueOf(name, names)}>
            {name}
            {times > 1 && ` × ${times}`}
          </li>
        );
      })}
    </ul>
  );
}
