import { TbLock } from 'react-icons/tb';
import { Navigate, Outlet, useLocation } from 'react-router';
import { EmptyState, NOT_ALLOWED } from '@/shared/components/states';
import { type Right, useMay } from '@/shared/data/access';
import { pages } from './pages';

const NEEDED: Record<Right, string> = {
  read: 'This page shows contents, and an operator sees none.',
  write: 'This needs the role write.',
  admin: 'This page needs the role admin.',
  manage: 'This page needs the role admin or operator.',
  server:
    'This page is about the whole server. It needs the role operator, or an admin key for all users and projects.',
};

/** The page of the address, or why the caller's role does not open it. */
export function AllowedPage() {
  const { pathname } = useLocation();
  const may = useMay();
  const right = pages.find(page => page.path === pathname)?.right;
  if (right === undefined || may[right]) return <Outlet />;
  if (pathname === '/' && may.server) return <Navigate to="/status" replace />;
  return <EmptyState Icon={TbLock} title={NOT_ALLOWED} hint={NEEDED[right]} />;
}
