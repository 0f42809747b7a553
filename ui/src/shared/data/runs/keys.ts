const lists = ['runs', 'list'] as const;
const whole = ['runs', 'run'] as const;

export const runKeys = {
  lists,
  list: (filters: object) => [...lists, filters] as const,
  found: (words: string) => [...lists, 'found', words] as const,
  failed: (conversation: string) => [...lists, 'failed', conversation] as const,
  whole,
  one: (id: string) => [...whole, id] as const,
  command: (id: string, node: number | null) => ['runs', 'command', id, node] as const,
  memories: (id: string) => ['runs', 'memories', id] as const,
  summary: (id: string) => ['runs', 'summary', id] as const,
};
