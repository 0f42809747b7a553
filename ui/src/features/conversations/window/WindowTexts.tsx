import { Text } from '@mantine/core';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import type { Window } from '@/shared/data/conversations/window';
import classes from './Window.module.css';

/** The summary that stands for what is left out, and what would be recalled for the question. */
export function WindowTexts({ window: { summary, recalled, recalls } }: { window: Window }) {
  return (
    <div className={classes.texts}>
      {summary && (
        <details className={classes.text}>
          <summary>
            Summary up to message {summary.upto_message_id}, {summary.tokens.toLocaleString()} tokens
          </summary>
          <div className={classes.textBody}>
            <Words>{summary.text}</Words>
            <Text size="xs" c="dimmed" mt={4}>
              {summary.model && <>by {summary.model} </>}
              {summary.created_at && <Time value={summary.created_at} />}
            </Text>
          </div>
        </details>
      )}
      {recalled && (
        <div className={classes.text}>
          <Text size="sm">
            {recalled.length === 0 ? 'Nothing would be recalled for the question.' : 'Recalled for the question:'}
            {!recalls && ' Chats on this server recall nothing: memory.rag.enabled is off.'}
          </Text>
          <ul className={classes.recalled}>
            {recalled.map((each, at) => (
              <li key={at}>
                <b>{each.role}</b> <Words limit={400}>{each.text}</Words>{' '}
                <Text span size="xs" c="dimmed">
                  {each.tokens.toLocaleString()} tokens
                </Text>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
