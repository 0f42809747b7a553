/** The sign-in of this browser: its cookie is out of reach here; the server tells the token that goes beside it. */

let csrf: string | null = null;

export function keepSession(token: string | null): void {
  csrf = token;
}

export function sessionToken(): string | null {
  return csrf;
}
