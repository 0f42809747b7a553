import { ApiError } from '@/shared/api/errors';

type Json = Record<string, unknown>;

/** Whether this browser can make and use passkeys at this address. */
export const knowsPasskeys = () =>
  window.isSecureContext &&
  typeof PublicKeyCredential === 'function' &&
  typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function';

/** A new passkey by the options of the server, as the server takes it. Throws ApiError, also when it is cancelled. */
export async function newCredential(options: Json): Promise<Json> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  return toJson(await asked(() => navigator.credentials.create({ publicKey })));
}

/** The answer of a passkey that is there. Throws ApiError, also when it is cancelled. */
export async function presented(options: Json): Promise<Json> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return toJson(await asked(() => navigator.credentials.get({ publicKey })));
}

async function asked(ask: () => Promise<Credential | null>): Promise<Credential | null> {
  try {
    return await ask();
  } catch (error) {
    const name = error instanceof DOMException ? error.name : '';
    if (name === 'InvalidStateError') throw new ApiError(0, 'passkey', 'This device has a passkey for you already.');
    if (name === 'NotAllowedError') throw new ApiError(0, 'passkey', 'No passkey was chosen, or it took too long.');
    throw new ApiError(0, 'passkey', 'The browser could not use a passkey here.');
  }
}

function toJson(credential: Credential | null): Json {
  if (credential === null) throw new ApiError(0, 'passkey', 'The browser gave no passkey.');
  return (credential as PublicKeyCredential).toJSON() as Json;
}
