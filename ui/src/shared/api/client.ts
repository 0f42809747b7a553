import createClient, { type Middleware } from 'openapi-fetch';
import { ApiError, unreachable } from './errors';
import { apiKey, reportMissingKey } from './key';
import { pathSerializer } from './paths';
import { noteAnswer, noteSilence } from './silence';
import type { paths } from './schema';
import { sessionToken } from './session';
import { zoneHere } from './zone';

/** Where this server is, without a final slash: the page's <base>, which the server fills in. */
export const serverUrl = document.baseURI.replace(/[?#].*$/, '').replace(/\/$/, '');

const authorise: Middleware = {
  onRequest({ request }) {
    if (!request.headers.has('Authorization'))
      for (const [name, value] of Object.entries(authorisation())) request.headers.set(name, value);
    request.headers.set(...zoneHeader());
    return request;
  },
  async onResponse({ request, response }) {
    noteAnswer();
    await reportRefusal(response, request.headers);
  },
  onError({ error }) {
    return isAbort(error) ? unreachable() : silent();
  },
};

/** Tells of a refusal for want of a credential. That of a request with another one says nothing of the one in use. */
async function reportRefusal(response: Response, sent: Headers): Promise<void> {
  if (![401, 403, 429].includes(response.status)) return;
  const now = new Headers(authorisation());
  if (CREDENTIALS.some(name => sent.get(name) !== now.get(name))) return;
  const { code } = (await response
    .clone()
    .json()
    .catch(() => ({}))) as Problem;
  const isMissing = response.status === 401 && code !== 'wrong_sign_in';
  const isOfOtherSession = response.status === 403 && code === 'csrf'; // another tab signed in anew
  if (isMissing || isOfOtherSession || (response.status === 429 && response.headers.has('WWW-Authenticate')))
    reportMissingKey();
}

/** The header with the person's time zone, in which the server reads "tomorrow". */
const zoneHeader = (): [string, string] => ['X-Timezone', zoneHere()];

const CREDENTIALS = ['Authorization', 'X-Mnemoir-CSRF'];

/** The header that carries the API key, or goes beside the cookie of a sign-in; none without either. */
export function authorisation(): Record<string, string> {
  const key = apiKey();
  const token = sessionToken();
  if (key) return { Authorization: `Bearer ${key}` };
  return token ? { 'X-Mnemoir-CSRF': token } : {};
}

/** Whether requests go by the cookie of a sign-in, which chats and lists of models take on routes of their own. */
export const isBySession = () => apiKey() === null && sessionToken() !== null;

/** Typed by the server's OpenAPI description: `unwrap(client.GET('/api/runs', { params: { query: { limit: 5 } } }))`. */
export const client = createClient<paths>({
  baseUrl: serverUrl,
  pathSerializer,
  fetch: request => globalThis.fetch(request),
});
client.use(authorise);

const isAbort = (error: unknown) => error instanceof DOMException && error.name === 'AbortError';

function silent(): ApiError {
  noteSilence();
  return unreachable();
}

interface Answered<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** The answer's body; throws ApiError for an error. */
export async function unwrap<Data>(answer: Promise<Answered<Data>>): Promise<Data> {
  const { data, error, response } = await answer;
  if (!response.ok) throw problemOf(response, error);
  return data as Data;
}

/** The answer, or null for one that the server refused with one of these states or codes. */
export async function orNull<Data>(answer: Promise<Data>, ...refusals: (number | string)[]): Promise<Data | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && [error.status, error.code].some(of => refusals.includes(of))) return null;
    throw error;
  }
}

/** What `unwrap` does, for requests the typed client is not made for: streams, files. `path` begins with "/". */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(authorisation())) headers.set(name, value);
  headers.set(...zoneHeader());
  let response: Response;
  try {
    response = await fetch(`${serverUrl}${path}`, { ...init, headers });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw silent();
  }
  noteAnswer();
  await reportRefusal(response, headers);
  if (!response.ok) throw problemOf(response, await response.json().catch(() => undefined));
  return response;
}

interface Misfit {
  loc: (string | number)[];
  msg: string;
}

interface Problem {
  detail?: string | Misfit[];
  error?: string | { message?: string };
  code?: string;
  request_id?: string;
}

function problemOf(response: Response, body: unknown): ApiError {
  const problem = (typeof body === 'object' && body !== null ? body : {}) as Problem;
  const said = typeof problem.error === 'object' ? problem.error.message : problem.error;
  const misfits = Array.isArray(problem.detail) ? problem.detail.map(({ loc, msg }) => [placeOf(loc), msg]) : [];
  const detail = Array.isArray(problem.detail)
    ? misfits.map(([place, msg]) => `${place}: ${msg}`).join('; ')
    : problem.detail;
  const isSignedOut = response.status === 401 && problem.code === 'unauthorized' && isBySession();
  const message = isSignedOut
    ? 'You were signed out. Sign in and try again.'
    : (detail ?? said ?? `The server answered ${String(response.status)} ${response.statusText}`.trim());
  const runId = response.headers.get('X-Workflow-Run-Id') ?? undefined;
  const problems = Object.fromEntries(misfits) as Record<string, string>;
  return new ApiError(response.status, problem.code ?? 'error', message, problem.request_id, runId, problems);
}

/** The first step is "body" or "query", unless it is the only one. */
function placeOf([first, ...rest]: Misfit['loc']): string {
  return rest.length ? rest.join('.') : String(first);
}
