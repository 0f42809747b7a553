export const discussionKeys = {
  one: (id: string) => ['discussions', id] as const,
  memories: (id: string, kind: string) => ['discussions', id, 'memories', kind] as const,
};
