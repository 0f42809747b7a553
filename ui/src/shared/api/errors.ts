/** What the server refused, or a network that failed (`status` 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId?: string,
    /** The run that ended with this, where one had begun. */
    readonly runId?: string,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

export const unreachable = () =>
  new ApiError(0, 'unreachable', 'The server cannot be reached. Is Mnemoir still running?');

export const isOfNetwork = (error: unknown) => error instanceof ApiError && error.status === 0;
