import { Group, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './PageFrame.module.css';

interface PageFrameProps {
  title: string;
  /** Buttons at the right of the title. */
  actions?: ReactNode;
  /** Filters and the like, below the title; stays while the body scrolls. */
  toolbar?: ReactNode;
  /** The body scrolls by itself, or, with `fill`, its parts do. */
  fill?: boolean;
  /** One column of cards, in the middle: for what is read rather than searched. */
  column?: boolean;
  children: ReactNode;
}

/** A page: its title and tools, and a body that has the remaining height. */
export function PageFrame({ title, actions, toolbar, fill = false, column = false, children }: PageFrameProps) {
  return (
    <div className={classes.frame} data-column={column || undefined}>
      <Group className={classes.top} justify="space-between" gap="xs">
        <Title order={1} size="h3">
          {title}
        </Title>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {toolbar && <div className={classes.toolbar}>{toolbar}</div>}
      <div className={fill ? classes.filled : classes.body}>{children}</div>
    </div>
  );
}
