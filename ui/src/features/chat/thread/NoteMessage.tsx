import { Words } from '@/shared/components/Words';
import type { Message } from '@/shared/data/conversations/messages';
import { wordsOf } from '@/shared/messages/content';
import classes from './Message.module.css';

/** What is neither said by the user nor by the model: instructions, and results of tools; folded. */
export function NoteMessage({ message }: { message: Message }) {
  const what = message.role === 'tool' ? 'Tool result' : 'Instruction';
  return (
    <details className={classes.folded}>
      <summary>
        {what}
        {message.name && (
          <>
            {', '}
            <Words>{message.name}</Words>
          </>
        )}
      </summary>
      <Words>{wordsOf(message.content)}</Words>
    </details>
  );
}
