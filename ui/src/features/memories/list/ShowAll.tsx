import { Button } from '@mantine/core';
import { Link } from 'react-router';
import type { Place } from '../place';

interface ShowAllProps {
  /** What of the place is left. */
  place: Partial<Place>;
  children: string;
}

/** Leads to the same page with fewer conditions. */
export function ShowAll({ place, children }: ShowAllProps) {
  return (
    <Button size="xs" variant="default" component={Link} to={`/memories?${new URLSearchParams(place).toString()}`}>
      {children}
    </Button>
  );
}
