import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { type More, useChange } from '../change';
import type { Scope } from '../scope';
import { MEMORIES_CHANGED } from './keys';

type Added = components['schemas']['AddAnswer'];

interface Addition {
  text: string;
  /** Have the model find the facts in it; else it is stored word for word. */
  infer: boolean;
}

/** Adds what a person wrote down by hand. */
export function useAddMemory({ user, project }: Scope, more?: More<Added, Addition>) {
  return useChange(
    ({ text, infer }: Addition) =>
      unwrap(
        client.POST('/api/memories', {
          params: { query: { project } },
          body: { messages: [{ role: 'user', content: text }], user_id: user, infer, origin: 'person' },
        }),
      ),
    MEMORIES_CHANGED,
    more,
  );
}
