import { Autocomplete, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useMe } from '@/shared/data/access';
import { useProjects } from '@/shared/data/projects';
import { useSettings } from '@/shared/settings/settings';
import { useChangeScope } from './useChangeScope';

const PROJECT_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const LONGEST_USER = 256;

/** User and project: known ones to choose from, or a new one. They count once the field is left, or with Enter. */
export function ScopeSettings() {
  const { user, project } = useSettings();
  const change = useChangeScope();
  const own = useMe();
  const projects = useProjects().data ?? [];
  const users = projects.find(one => one.project === project)?.users.map(one => one.user_id) ?? [];
  return (
    <Stack gap="sm">
      <ScopeField
        key={`user ${user}`}
        isFixed={own.user !== null}
        label="User"
        description="Conversations and memories belong to this user."
        value={user}
        known={users}
        problemOf={name => (name.length > LONGEST_USER ? `At most ${LONGEST_USER} characters.` : null)}
        onChange={change.user}
      />
      <ScopeField
        key={`project ${project}`}
        isFixed={own.projects?.length === 1}
        label="Project"
        description="Projects share no conversations or memories."
        value={project}
        known={own.projects ?? projects.map(one => one.project)}
        problemOf={name =>
          own.projects?.includes(name) === false
            ? 'You may not use this project.'
            : PROJECT_NAME.test(name)
              ? null
              : 'Letters, digits, “.”, “_” and “-”, starting with a letter, digit or “_”.'
        }
        onChange={change.project}
      />
    </Stack>
  );
}

interface ScopeFieldProps {
  label: string;
  description: string;
  /** The caller sees this one alone. */
  isFixed: boolean;
  value: string;
  known: string[];
  problemOf: (name: string) => string | null;
  /** null goes back to the server's default. */
  onChange: (name: string | null) => void;
}

function ScopeField({ label, description, isFixed, value, known, problemOf, onChange }: ScopeFieldProps) {
  const [typed, setTyped] = useState(value);
  const name = typed.trim();
  const problem = name ? problemOf(name) : null;
  if (isFixed)
    return (
      <TextInput label={label} description={`You see this ${label.toLowerCase()} alone.`} value={value} readOnly />
    );
  const keep = (chosen: string) => {
    if (!problemOf(chosen) && chosen !== value) onChange(chosen || null);
  };
  return (
    <Autocomplete
      label={label}
      description={description}
      value={typed}
      data={[...new Set(known)].slice(0, 50)}
      error={problem}
      placeholder="The server's default"
      onChange={setTyped}
      onOptionSubmit={keep}
      onBlur={() => {
        if (name) keep(name);
        else onChange(null);
      }}
      onKeyDown={event => {
        if (event.key === 'Enter' && name) keep(name);
      }}
      autoComplete="off"
    />
  );
}
