import { PasswordInput, TextInput } from '@mantine/core';
import { originOf } from './kinds';

interface KeyInputProps {
  value: string;
  onChange: (key: string) => void;
  /** The address that the key is for. */
  url: string;
  saved: { url: string; has_key: boolean } | null;
  /** Where the key of this address is set, if that is not here. */
  setBy: string | undefined;
}

/** The API key of a model's server, which is never shown again. */
export function KeyInput({ value, onChange, url, saved, setBy }: KeyInputProps) {
  const isSame = saved?.has_key === true && originOf(saved.url) === originOf(url);
  const isMoved = saved?.has_key === true && !isSame;
  if (setBy !== undefined)
    return (
      <TextInput
        label="API key"
        readOnly
        variant="filled"
        value="Set outside this page"
        description={`Set by ${setBy}`}
      />
    );
  return (
    <PasswordInput
      label="API key"
      description={
        isSame
          ? 'A key is stored for this address. Leave this empty to keep it.'
          : isMoved
            ? `The stored key belongs to ${originOf(saved.url)} and is removed when you save another address.`
            : 'Leave this empty if none is needed. It is stored on the server, in a file of its own.'
      }
      value={value}
      onChange={event => onChange(event.currentTarget.value)}
      autoComplete="off"
    />
  );
}
