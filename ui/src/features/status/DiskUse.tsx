import { Progress, Text } from '@mantine/core';
import { Time } from '@/shared/components/Time';
import type { Status } from '@/shared/data/status';

import { bytes } from '@/shared/text/bytes';
import { Section } from '@/shared/components/Section';
import classes from './Status.module.css';

const HUES = 6;

/** What each part of the stored data takes. */
export function DiskUse({ room }: { room: Status['room'] }) {
  const shares = room.shares ?? [];
  const whole = shares.reduce((sum, share) => sum + share.size_bytes, 0);
  return (
    <Section title="Disk usage" aside={<Text size="sm">{room.shares && bytes(whole)}</Text>}>
      {room.shares === null ? (
        <Text size="sm" c="dimmed">
          Measuring…
        </Text>
      ) : (
        <>
          <Progress.Root size="lg" aria-hidden>
            {shares.map((share, at) => (
              <Progress.Section
                key={share.name}
                value={(share.size_bytes / Math.max(1, whole)) * 100}
                color={hue(at)}
                withAria={false}
              />
            ))}
          </Progress.Root>
          <ul className={classes.shares}>
            {shares.map((share, at) => (
              <li key={share.name}>
                <span className={classes.swatch} style={{ background: hue(at) }} aria-hidden />
                <span>{share.name}</span>
                <span>{bytes(share.size_bytes)}</span>
              </li>
            ))}
          </ul>
          {room.measured_at && (
            <Text size="xs" c="dimmed" mt="xs">
              Measured <Time value={room.measured_at} ago />
            </Text>
          )}
        </>
      )}
    </Section>
  );
}

function hue(at: number): string {
  return `var(--hue-${at % HUES})`;
}
