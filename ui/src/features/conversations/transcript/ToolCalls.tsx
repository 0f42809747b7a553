import { CodeBlock } from '@/shared/components/CodeBlock';
import { Words } from '@/shared/components/Words';
import type { Message } from '@/shared/data/conversations/messages';
import classes from './Message.module.css';

/** What a model asked tools to do, folded away. */
export function ToolCalls({ calls }: { calls: NonNullable<Message['tool_calls']> }) {
  return calls.map((call, at) => (
    <details key={at} className={classes.call}>
      <summary>
        Calls <Words limit={200}>{call.function.name}</Words>
      </summary>
      <CodeBlock text={call.function.arguments} language="json" />
    </details>
  ));
}
