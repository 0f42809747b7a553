import { Autocomplete, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useMe } from '@/shared/data/access';
import { useProjects } from '@/shared/data/projects';
import type { Place } from '../place';

interface OwnerPickerProps {
  place: Place;
  go: (changes: Partial<Place>) => void;
}

/** Project and user: those that have memories are offered, any other user may be typed. */
export function OwnerPicker({ place, go }: OwnerPickerProps) {
  const known = useProjects().data ?? [];
  const own = useMe();
  const projects = [...new Set([place.project, ...(own.projects ?? known.map(each => each.project))])];
  const users = known.find(each => each.project === place.project)?.users.map(user => user.user_id) ?? [];
  return (
    <>
      <Select
        size="xs"
        label="Project"
        comboboxProps={{ withinPortal: false }} // a click there is one within the filters
        data={projects}
        value={place.project}
        allowDeselect={false}
        searchable={projects.length > 8}
        onChange={project => project && go({ project, id: '' })}
      />
      {own.user === null ? (
        <UserPicker key={place.user} users={users} user={place.user} onPick={user => go({ user, id: '' })} />
      ) : (
        <TextInput size="xs" label="User" value={own.user} readOnly />
      )}
    </>
  );
}

interface UserPickerProps {
  users: string[];
  user: string;
  onPick: (user: string) => void;
}

function UserPicker({ users, user, onPick }: UserPickerProps) {
  const [typed, setTyped] = useState(user);
  const pick = (value: string) => {
    const name = value.trim();
    if (name && name !== user) onPick(name);
  };
  return (
    <Autocomplete
      size="xs"
      label="User"
      comboboxProps={{ withinPortal: false }}
      data={[...new Set(users)]}
      filter={typed === user ? ({ options }) => options : undefined}
      value={typed}
      onChange={setTyped}
      onOptionSubmit={pick}
      onBlur={() => pick(typed)}
      onKeyDown={event => event.key === 'Enter' && pick(typed)}
      maxLength={256}
      limit={200}
    />
  );
}
