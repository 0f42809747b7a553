import { Autocomplete, Radio, Stack, TagsInput } from '@mantine/core';
import { useMe } from '@/shared/data/access';
import { useTenants } from '@/shared/data/apiKeys';
import { useProjects } from '@/shared/data/projects';
import { useConfigTree } from '@/shared/data/workflows';
import { type Grant, isOperator, managesTenant, ROLES, rolesToGive } from './grants';

interface GrantFieldsProps {
  grant: Grant;
  onChange: (changes: Partial<Grant>) => void;
  /** The field of the user: its label, what it means, and names that are offered. */
  user: { label: string; description: string; known: readonly string[] };
  /** The tenant stays as it is. */
  isTenantFixed?: boolean;
}

/** Role, user, projects, workflows and tenant: no more than the caller may give. */
export function GrantFields({ grant, onChange, user, isTenantFixed = false }: GrantFieldsProps) {
  const me = useMe();
  const isFree = managesTenant(me);
  const projects = useProjects().data?.map(each => each.project) ?? [];
  const isUserFixed = me.user !== null && !isFree;
  return (
    <>
      <Radio.Group label="Role" value={grant.role} onChange={role => onChange({ role })}>
        <Stack gap="xs" mt={4}>
          {rolesToGive(me).map(role => (
            <Radio key={role} value={role} label={role} description={ROLES[role]} />
          ))}
        </Stack>
      </Radio.Group>
      <Autocomplete
        label={user.label}
        description={isUserFixed ? 'Your own.' : user.description}
        data={user.known.slice(0, 50)}
        maxLength={256}
        readOnly={isUserFixed}
        value={grant.user}
        onChange={name => onChange({ user: name })}
        autoComplete="off"
      />
      <TagsInput
        label="Projects"
        description={me.projects === null ? 'Press Enter after each. Empty: all projects.' : 'Some of your own.'}
        data={me.projects ?? projects}
        value={grant.projects}
        onChange={chosen => onChange({ projects: chosen })}
        error={lacksProject(grant, me.projects) && 'Choose at least one project.'}
        acceptValueOnBlur
      />
      <WorkflowsField value={grant.configs} onChange={configs => onChange({ configs })} own={me.configs} />
      {isOperator(me) && !isTenantFixed && (
        <TenantField value={grant.tenant} onChange={tenant => onChange({ tenant })} />
      )}
    </>
  );
}

/** Whoever is for some projects gives one of them at least. */
export const lacksProject = (grant: Grant, own: readonly string[] | null) => own !== null && !grant.projects.length;

interface WorkflowsFieldProps {
  value: string[];
  onChange: (configs: string[]) => void;
  /** Those of the caller; null for all. */
  own: string[] | null;
}

/** Not there on a server without a tree of workflows. */
function WorkflowsField({ value, onChange, own }: WorkflowsFieldProps) {
  const tree = useConfigTree().data;
  const known = own ?? tree?.users.map(user => user.name) ?? [];
  if (!known.length && !value.length) return null;
  return (
    <TagsInput
      label="Workflows"
      description="Config users that may be asked as models. Empty: all of them."
      data={known}
      value={value}
      onChange={onChange}
      acceptValueOnBlur
    />
  );
}

function TenantField({ value, onChange }: { value: string; onChange: (tenant: string) => void }) {
  const tenants = useTenants().data ?? [];
  return (
    <Autocomplete
      label="Tenant"
      description="Tenants share nothing. A new name adds a tenant."
      data={tenants.map(tenant => tenant.name)}
      value={value}
      onChange={onChange}
      maxLength={128}
      autoComplete="off"
    />
  );
}
