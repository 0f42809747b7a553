import { LoadingState } from '@/shared/components/states';
import classes from './Shell.module.css';

/** In place of all pages while the first of them is fetched; not seen where that takes no time. */
export function Waiting() {
  return (
    <div className={classes.soon}>
      <LoadingState label="Loading Mnemoir" />
    </div>
  );
}
