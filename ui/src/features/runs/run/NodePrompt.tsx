import { Text } from '@mantine/core';
import type { PromptMessage, RunNode } from '@/shared/data/runs/run';
import { counted } from '../figures';
import { Filled } from './Filled';
import classes from './NodePrompt.module.css';
import { VariableLegend } from './VariableLegend';

/** What a node sent: its messages or its text, with what was filled in standing out. */
export function NodePrompt({ node }: { node: RunNode }) {
  const { prompt, variables } = node;
  if (prompt === null)
    return (
      <Text c="dimmed" size="sm">
        This node did not call a model.
      </Text>
    );
  const names = [...new Set(variables.map(variable => variable.name))];
  const of = (at: number) => variables.filter(variable => variable.message === at);
  return (
    <>
      <VariableLegend names={names} variables={variables} />
      {typeof prompt === 'string' ? (
        <div className={classes.message}>
          <Filled text={prompt} variables={of(0)} names={names} />
        </div>
      ) : (
        prompt.map((message, at) => (
          <article
            key={at}
            className={classes.message}
            data-role={message.role}
            aria-label={`Message of ${message.role}`}
          >
            <h4 className={classes.role}>
              {message.role === 'note' ? 'left out' : message.role}
              <span>{extras(message)}</span>
            </h4>
            {message.content && <Filled text={message.content} variables={of(at)} names={names} />}
          </article>
        ))
      )}
    </>
  );
}

function extras(message: PromptMessage): string {
  const images = message.images ? counted(message.images, 'picture', 'pictures') : '';
  const calls = message.tool_calls?.length ? `calls ${message.tool_calls.join(', ')}` : '';
  return [images, calls].filter(Boolean).join(' · ');
}
