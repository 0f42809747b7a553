import type { Me } from '@/shared/data/access';
import type { Role } from '@/shared/data/apiKeys';

/** What a key with each role may do, in one line. */
export const ROLES: Record<Role, string> = {
  read: 'Reads and searches. Changes nothing.',
  write: 'Chats, and adds, changes and deletes single memories and conversations.',
  admin: 'All of that, and deletes all at once, imports, changes settings of projects and manages keys.',
  operator: 'Sees health and counts of the whole server, and manages all keys. Reads no contents.',
};

/** The roles that the caller may give. */
export function rolesToGive(me: Me): Role[] {
  return me.roles.includes('operator') ? ['read', 'write', 'admin', 'operator'] : ['read', 'write', 'admin'];
}
