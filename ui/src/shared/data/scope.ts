import { useSettings } from '../settings/settings';

/** Whose data a request is about, in which project. */
export interface Scope {
  user: string;
  project: string;
}

/** A conversation, and whose it is. */
export interface Place extends Scope {
  conversation: string;
}

/** The user and the project that this browser is set to. */
export function useScope(): Scope {
  const { user, project } = useSettings();
  return { user, project };
}

/** The scope as the parameters of a request name it. */
export function inScope({ user, project }: Scope) {
  return { user_id: user, project };
}
