type Options = Record<string, unknown>;

/** What the server asks, as JSON of WebAuthn, and the id of its question. */
export interface Question {
  id: string;
  options: Options;
}

/** The answer to a question, as the server takes it. */
export interface Answer {
  id: string;
  credential: Record<string, unknown>;
}

/** Has a passkey of this person sign. Throws an error in words for people. */
export function signWithPasskey({ id, options }: Question): Promise<Answer> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return answered(id, () => navigator.credentials.get({ publicKey }));
}

/** Has a new passkey made. Throws an error in words for people. */
export function makePasskey({ id, options }: Question): Promise<Answer> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  return answered(id, () => navigator.credentials.create({ publicKey }));
}

async function answered(id: string, ask: () => Promise<Credential | null>): Promise<Answer> {
  try {
    const credential = (await ask()) as PublicKeyCredential | null;
    if (credential) return { id, credential: credential.toJSON() as Answer['credential'] };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'InvalidStateError')
      throw new Error('There is a passkey of yours on this device already.', { cause: error });
    if (!(error instanceof DOMException)) throw error;
  }
  throw new Error('No passkey was used: it was cancelled, or took too long.');
}
