import { Group, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import classes from './Status.module.css';

interface SectionProps {
  title: string;
  /** At the right of the title. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A part of the page in a frame of its own. */
export function Section({ title, aside, children }: SectionProps) {
  const id = useId();
  return (
    <section className={classes.section} aria-labelledby={id}>
      <Group justify="space-between" gap="xs" mb="sm" mih="1.75rem">
        <Title order={2} size="h5" id={id}>
          {title}
        </Title>
        {aside}
      </Group>
      {children}
    </section>
  );
}
