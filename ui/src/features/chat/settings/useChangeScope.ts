import { useLocation, useNavigate } from 'react-router';
import { change } from '@/shared/settings/settings';

/** Changes user or project; a conversation that belongs to another one leaves the screen. null is the default. */
export function useChangeScope() {
  const navigate = useNavigate();
  const { pathname, search } = useLocation();
  const leave = () => {
    if (pathname === '/' && search) void navigate('/');
  };
  return {
    user: (name: string | null) => {
      change.user(name);
      leave();
    },
    project: (name: string | null) => {
      change.project(name);
      leave();
    },
  };
}
