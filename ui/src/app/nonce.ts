import { setNonce } from 'get-nonce';

/** The nonce that the server allows style elements by; "" where none is asked for, as in `make ui-dev`. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
}

setNonce(styleNonce()); // for the dialogs' style that keeps the page behind from scrolling
