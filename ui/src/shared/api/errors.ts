/** What the server refused, or a network that failed (`status` 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId?: string,
    /** The run that ended with this, where one had begun. */
    readonly runId?: string,
    /** What is wrong with members of the request, by their place in it: `retention.memories_days`. */
    readonly problems: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

export const unreachable = () =>
  new ApiError(0, 'unreachable', 'The server cannot be reached. Is Mnemoir still running?');

/** What the server has against a member of the request. */
export const problemAt = (error: unknown, place: string) =>
  error instanceof ApiError ? error.problems[place] : undefined;

/** Whether the server has something against these members of the request, and against nothing else. */
export function isOnlyAt(error: unknown, places: readonly string[]): boolean {
  const wrong = error instanceof ApiError ? Object.keys(error.problems) : [];
  return wrong.length > 0 && wrong.every(place => places.includes(place));
}

export const isOfNetwork = (error: unknown) => error instanceof ApiError && error.status === 0;
