import type { Scope } from '@/shared/data/scope';
import type { Place } from '../place';

/** What both lists, of conditions and of a search, are given. */
export interface ListParts {
  place: Place;
  owner: Scope;
  onOpen: (id: string) => void;
  onView: (view: Place['view']) => void;
  onDelete: (ids: string[]) => void;
}
