import type { Me } from '@/shared/data/access';
import type { Role } from '@/shared/data/apiKeys';

/** What somebody or something may, as forms hold it: "" and [] mean all. */
export interface Grant {
  role: Role;
  /** Whose memories and conversations. */
  user: string;
  projects: string[];
  /** Config users of the workflow tree. */
  configs: string[];
  tenant: string;
}

/** What each role may do, in one line. */
export const ROLES: Record<Role, string> = {
  read: 'Reads and searches. Changes nothing.',
  write: 'Chats, and adds, changes and deletes single memories and conversations.',
  admin: 'All of that, and deletes all at once, imports, changes settings of projects, manages people and keys.',
  operator: 'Sees health and counts of the whole server, and manages all people and keys. Reads no contents.',
};

export const isOperator = (me: Me) => me.roles.includes('operator');

/** The roles that the caller may give. */
export function rolesToGive(me: Me): Role[] {
  return isOperator(me) ? ['read', 'write', 'admin', 'operator'] : ['read', 'write', 'admin'];
}

/** Whether the caller decides about all users of the tenant: an admin who signed in does, whose own data is one's. */
export function managesTenant(me: Me): boolean {
  return isOperator(me) || (me.projects === null && me.configs === null && (me.user === null || me.signed_in));
}

interface Limits {
  tenant: string;
  projects: string[] | null;
  user: string | null;
  configs: string[] | null;
}

/** Whose data it is for: "all projects and users" without a limit. */
export function whose({ tenant, projects, user, configs }: Limits): string {
  const limits = [
    ...(tenant === 'default' ? [] : [`tenant ${tenant}`]),
    ...(projects === null ? [] : [`${projects.length === 1 ? 'project' : 'projects'} ${projects.join(', ')}`]),
    ...(user === null ? [] : [`user ${user}`]),
    ...(configs === null ? [] : [`${configs.length === 1 ? 'workflow' : 'workflows'} ${configs.join(', ')}`]),
  ];
  return limits.join(', ') || 'all projects and users';
}
