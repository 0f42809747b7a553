import type { Scope } from '../scope';

const all = ['files'] as const;
const lists = [...all, 'lists'] as const;

export const fileKeys = {
  all,
  lists,
  list: ({ user, project }: Scope) => [...lists, 'all', user, project] as const,
  ofConversation: ({ user, project }: Scope, id: string | null) => [...lists, 'one', user, project, id] as const,
  content: ({ user, project }: Scope, link: string) => [...all, 'content', user, project, link] as const,
};
