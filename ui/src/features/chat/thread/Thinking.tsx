import { Words } from '@/shared/components/Words';
import classes from './Message.module.css';

interface ThinkingProps {
  text: string;
  /** It still comes in. */
  isLive?: boolean;
}

/** What a model thought before it answered; folded. */
export function Thinking({ text, isLive = false }: ThinkingProps) {
  return (
    <details className={classes.folded}>
      <summary>{isLive ? 'Thinking…' : 'Thoughts'}</summary>
      <Words>{text.trim()}</Words>
    </details>
  );
}
