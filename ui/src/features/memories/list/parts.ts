import type { Owner } from '../api/keys';
import type { Place } from '../place';

/** What both lists, of conditions and of a search, are given. */
export interface ListParts {
  place: Place;
  owner: Owner;
  onOpen: (id: string) => void;
  onView: (view: Place['view']) => void;
  onDelete: (ids: string[]) => void;
}
