import type { Place, Scope } from '../scope';

const all = ['conversations'] as const;
const lists = [...all, 'lists'] as const;
const one = ({ user, project, conversation }: Place) => [...all, 'one', user, project, conversation] as const;

/** What is kept of conversations; a key begins with that of what it is a part of. */
export const conversationKeys = {
  all,
  lists,
  list: ({ user, project }: Scope) => [...lists, 'all', user, project] as const,
  titles: ({ user, project }: Scope) => [...lists, 'titles', user, project] as const,
  found: ({ user, project }: Scope) => [...lists, 'found', user, project] as const,
  one,
  /** Pages of messages in both directions from one of them. */
  ways: (place: Place) => [...one(place), 'ways'] as const,
  beside: (place: Place) => [...one(place), 'beside'] as const,
  branches: (place: Place) => [...one(place), 'branches'] as const,
  window: (place: Place) => [...one(place), 'window'] as const,
  nodes: (place: Place) => [...one(place), 'nodes'] as const,
  answers: (place: Place) => [...one(place), 'answers'] as const,
  /** Apart from the others: turns read it anew by themselves. */
  thread: ({ user, project, conversation }: Place) => ['thread', user, project, conversation] as const,
};
